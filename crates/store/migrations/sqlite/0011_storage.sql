-- The blob storage that belongs with this database: one row at most.
CREATE TABLE blob_storage (
    one        BIGINT NOT NULL PRIMARY KEY CHECK (one = 1),
    storage_id TEXT   NOT NULL
);

-- Leases on sessions that did not exist. The nil id is the lease on upkeep, which belongs to no session.
DELETE FROM logs WHERE head IS NULL AND session_id <> '00000000-0000-0000-0000-000000000000';

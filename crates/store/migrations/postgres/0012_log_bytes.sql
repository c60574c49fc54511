-- What a log takes: its entries, and the long fields of them that are blobs. The fields are counted from now on.
ALTER TABLE logs ADD COLUMN bytes BIGINT NOT NULL DEFAULT 0;

UPDATE logs SET bytes = (SELECT coalesce(sum(length(json)), 0) FROM entries WHERE entries.log = logs.log);

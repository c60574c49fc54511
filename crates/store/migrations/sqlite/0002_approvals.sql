-- What people were asked, and what they answered. `resolution` is NULL while nobody has.
CREATE TABLE approvals (
    approval_id  TEXT   NOT NULL PRIMARY KEY,
    session_id   TEXT   NOT NULL REFERENCES sessions ON DELETE CASCADE,
    run_id       TEXT,
    request      TEXT   NOT NULL,
    requested_at BIGINT NOT NULL,
    expires_at   BIGINT NOT NULL,
    resolution   TEXT,
    resolved_at  BIGINT
) WITHOUT ROWID;
CREATE INDEX approvals_by_session ON approvals (session_id, approval_id);
CREATE INDEX approvals_pending ON approvals (approval_id) WHERE resolution IS NULL;

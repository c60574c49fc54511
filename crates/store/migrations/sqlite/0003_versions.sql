-- What a version holds beside its tree. A version that retention has emptied stays, so that the history has no holes.
ALTER TABLE versions ADD COLUMN memory TEXT;
ALTER TABLE versions ADD COLUMN size_bytes BIGINT NOT NULL DEFAULT 0;
ALTER TABLE versions ADD COLUMN files TEXT NOT NULL DEFAULT '{}';
ALTER TABLE versions ADD COLUMN blocks BIGINT NOT NULL DEFAULT 0;
ALTER TABLE versions ADD COLUMN excluded TEXT NOT NULL DEFAULT '[]';
ALTER TABLE versions ADD COLUMN shared BIGINT NOT NULL DEFAULT 0;
ALTER TABLE versions ADD COLUMN restored BIGINT;
ALTER TABLE versions ADD COLUMN expired BIGINT NOT NULL DEFAULT 0;

-- Who else works in a workspace.
CREATE INDEX sessions_by_workspace ON sessions (workspace_id);

-- What of a session's files could not be kept as it was: `[path, why]` of what is in no tree, and paths of what never stood still.
ALTER TABLE versions ADD COLUMN skipped TEXT NOT NULL DEFAULT '[]';
ALTER TABLE versions ADD COLUMN unstable TEXT NOT NULL DEFAULT '[]';

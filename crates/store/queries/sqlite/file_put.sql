-- $2: rows of [path, file].
INSERT INTO workspace_files (session_id, path, file)
SELECT $1, value ->> 0, value ->> 1 FROM json_each($2) WHERE true
ON CONFLICT (session_id, path) DO UPDATE SET file = excluded.file

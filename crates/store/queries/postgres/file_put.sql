-- $2: rows of [path, file].
INSERT INTO workspace_files (session_id, path, file)
SELECT $1, row ->> 0, row ->> 1 FROM json_array_elements($2::json) AS row
ON CONFLICT (session_id, path) DO UPDATE SET file = excluded.file

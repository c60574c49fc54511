DELETE FROM workspace_files WHERE session_id = $1 AND path IN (SELECT value FROM json_each($2))

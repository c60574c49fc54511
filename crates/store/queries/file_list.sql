SELECT file FROM workspace_files WHERE session_id = $1 ORDER BY path

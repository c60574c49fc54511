DELETE FROM workspace_files WHERE session_id = $1 AND path IN (SELECT json_array_elements_text($2::json))

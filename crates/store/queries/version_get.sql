SELECT * FROM versions WHERE session_id = $1 AND version = $2

DELETE FROM logs WHERE session_id = $1 RETURNING log

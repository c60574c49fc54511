SELECT * FROM runs WHERE session_id = $1 AND run_id = $2

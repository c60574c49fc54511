SELECT * FROM runs WHERE session_id = $1 AND ($2 IS NULL OR run_id < $2) ORDER BY run_id DESC LIMIT $3

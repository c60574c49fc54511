UPDATE logs SET held_until = $2 WHERE holder = $1 RETURNING session_id

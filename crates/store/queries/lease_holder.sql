SELECT holder, held_until FROM logs WHERE session_id = $1

UPDATE logs SET holder = '', held_until = 0 WHERE session_id = $1 AND holder = $2 AND fence = $3

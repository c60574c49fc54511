INSERT INTO logs (session_id, head) VALUES ($1, 0)
ON CONFLICT (session_id) DO UPDATE SET head = 0 WHERE logs.head IS NULL
RETURNING log

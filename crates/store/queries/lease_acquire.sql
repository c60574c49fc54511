INSERT INTO logs (session_id, fence, holder, held_until) VALUES ($1, 1, $2, $4)
ON CONFLICT (session_id) DO UPDATE SET fence = logs.fence + 1, holder = $2, held_until = $4
WHERE logs.holder = '' OR logs.holder = $2 OR logs.held_until <= $3
RETURNING fence

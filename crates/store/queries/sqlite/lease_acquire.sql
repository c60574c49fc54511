-- By the database's clock, which all nodes share. $3: how long it lasts, in milliseconds.
INSERT INTO logs (session_id, fence, holder, held_until)
VALUES ($1, 1, $2, CAST(unixepoch('subsec') * 1000 AS INTEGER) + $3)
ON CONFLICT (session_id) DO UPDATE
SET fence = logs.fence + 1, holder = $2, held_until = CAST(unixepoch('subsec') * 1000 AS INTEGER) + $3
WHERE logs.holder = '' OR logs.holder = $2 OR logs.held_until <= CAST(unixepoch('subsec') * 1000 AS INTEGER)
RETURNING fence, held_until

-- By the database's clock, which all nodes share. $3: how long it lasts, in milliseconds.
INSERT INTO logs (session_id, fence, holder, held_until)
VALUES ($1, 1, $2, CAST(extract(epoch FROM clock_timestamp()) * 1000 AS BIGINT) + CAST($3 AS BIGINT))
ON CONFLICT (session_id) DO UPDATE
SET fence = logs.fence + 1, holder = $2, held_until = CAST(extract(epoch FROM clock_timestamp()) * 1000 AS BIGINT) + CAST($3 AS BIGINT)
WHERE logs.holder = '' OR logs.holder = $2 OR logs.held_until <= CAST(extract(epoch FROM clock_timestamp()) * 1000 AS BIGINT)
RETURNING fence, held_until

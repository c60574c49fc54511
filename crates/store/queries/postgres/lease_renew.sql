-- By the database's clock. $2: how long they last, in milliseconds.
-- In the order in which commits lock them, so that neither waits for the other in a circle.
WITH mine AS (SELECT session_id FROM logs WHERE holder = $1 ORDER BY session_id FOR UPDATE)
UPDATE logs SET held_until = CAST(extract(epoch FROM clock_timestamp()) * 1000 AS BIGINT) + CAST($2 AS BIGINT)
FROM mine WHERE logs.session_id = mine.session_id RETURNING logs.session_id

-- By the database's clock, which all nodes share. $3: how long it lasts, in milliseconds.
-- Never adds a row: an insert could bring back the row of a session that is being erased.
UPDATE logs
SET fence = fence + 1, holder = $2, held_until = CAST(extract(epoch FROM clock_timestamp()) * 1000 AS BIGINT) + CAST($3 AS BIGINT)
WHERE session_id = $1
  AND (holder = '' OR holder = $2 OR held_until <= CAST(extract(epoch FROM clock_timestamp()) * 1000 AS BIGINT))
RETURNING fence, held_until

-- Moves a view from $2 (0: there is none) to $3. $7: rows of [key, list, place or null, first, place in $8, length];
-- $8: the bodies' bytes in a row. Nothing happens if the view is somewhere else by now, or the session is gone.
WITH moved AS (
    INSERT INTO checkpoints (session_id, seq, format, hash, state)
    SELECT $1, $3::bigint, $4::bigint, $5, $6
    WHERE coalesce((SELECT seq FROM checkpoints WHERE session_id = $1), 0) = $2::bigint
      AND EXISTS (SELECT 1 FROM sessions WHERE session_id = $1)
    ON CONFLICT (session_id) DO UPDATE
    SET seq = excluded.seq, format = excluded.format, hash = excluded.hash, state = excluded.state
    WHERE checkpoints.seq = $2::bigint
    RETURNING checkpoints.seq
), put AS (
    INSERT INTO view_items (session_id, item_key, list, place, first_seq, body)
    SELECT $1, row ->> 0, row ->> 1, (row ->> 2)::bigint, (row ->> 3)::bigint,
           substring($8::bytea FROM (row ->> 4)::int FOR (row ->> 5)::int)
    FROM json_array_elements($7::json) AS row, moved
    ON CONFLICT (session_id, item_key) DO UPDATE
    SET list = excluded.list, place = excluded.place, first_seq = excluded.first_seq, body = excluded.body
)
SELECT seq FROM moved

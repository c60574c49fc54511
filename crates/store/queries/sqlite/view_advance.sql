-- Moves a view from $2 (0: there is none) to $3. $7: rows of [key, list, place or null, first, place in $8, length];
-- $8: the bodies' bytes in a row. Nothing happens if the view is somewhere else by now, or the session is gone.
INSERT INTO view_items (session_id, item_key, list, place, first_seq, body)
SELECT $1, value ->> 0, value ->> 1, value ->> 2, value ->> 3, coalesce(substr($8, value ->> 4, value ->> 5), x'')
FROM json_each($7)
WHERE coalesce((SELECT seq FROM checkpoints WHERE session_id = $1), 0) = $2
  AND EXISTS (SELECT 1 FROM sessions WHERE session_id = $1)
ON CONFLICT (session_id, item_key) DO UPDATE
SET list = excluded.list, place = excluded.place, first_seq = excluded.first_seq, body = excluded.body;
INSERT INTO checkpoints (session_id, seq, format, hash, state)
SELECT $1, $3, $4, $5, $6
WHERE coalesce((SELECT seq FROM checkpoints WHERE session_id = $1), 0) = $2
  AND EXISTS (SELECT 1 FROM sessions WHERE session_id = $1)
ON CONFLICT (session_id) DO UPDATE
SET seq = excluded.seq, format = excluded.format, hash = excluded.hash, state = excluded.state
RETURNING seq

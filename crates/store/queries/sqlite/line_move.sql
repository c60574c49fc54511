-- Moves the same log, and says whether it was. $4: last activity or null.
UPDATE logs SET head = head + 1, last_activity = coalesce($4, last_activity)
WHERE session_id = $1 AND fence <= $2 AND head = $3
RETURNING session_id

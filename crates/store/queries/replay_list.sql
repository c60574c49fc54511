SELECT * FROM replays
WHERE session_id = $1 AND ($2 IS NULL OR replay_id < $2)
ORDER BY replay_id DESC
LIMIT $3

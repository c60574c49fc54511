DELETE FROM view_items
WHERE session_id = $1 AND EXISTS (SELECT 1 FROM checkpoints WHERE session_id = $1 AND seq = $2);
DELETE FROM checkpoints WHERE session_id = $1 AND seq = $2

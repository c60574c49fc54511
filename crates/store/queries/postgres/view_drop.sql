WITH dropped AS (DELETE FROM checkpoints WHERE session_id = $1 AND seq = $2 RETURNING session_id)
DELETE FROM view_items USING dropped WHERE view_items.session_id = dropped.session_id

-- Items by key, with the checkpoint they are true at. $2: an array of keys.
SELECT checkpoints.seq AS at, item.item_key, item.list, item.place, item.first_seq, item.body
FROM checkpoints
LEFT JOIN (
    SELECT item_key, list, place, first_seq, body
    FROM view_items
    WHERE session_id = $1 AND item_key IN (SELECT value FROM json_each($2))
) AS item ON true
WHERE checkpoints.session_id = $1

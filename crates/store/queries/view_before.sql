-- Part of a list, with the checkpoint it is true at: at least one row if there is a checkpoint.
SELECT checkpoints.seq AS at, item.item_key, item.list, item.place, item.first_seq, item.body
FROM checkpoints
LEFT JOIN (
    SELECT item_key, list, place, first_seq, body
    FROM view_items
    WHERE session_id = $1 AND list = $2 AND place < $3
    ORDER BY place DESC
    LIMIT $4
) AS item ON true
WHERE checkpoints.session_id = $1
ORDER BY item.place DESC

-- By the database's clock. $2: how long they last, in milliseconds.
UPDATE logs SET held_until = CAST(unixepoch('subsec') * 1000 AS INTEGER) + $2 WHERE holder = $1 RETURNING session_id

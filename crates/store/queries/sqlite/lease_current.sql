SELECT holder FROM logs
WHERE session_id = $1 AND holder <> '' AND held_until > CAST(unixepoch('subsec') * 1000 AS INTEGER)

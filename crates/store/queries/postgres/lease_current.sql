SELECT holder FROM logs
WHERE session_id = $1 AND holder <> '' AND held_until > CAST(extract(epoch FROM clock_timestamp()) * 1000 AS BIGINT)

SELECT * FROM versions WHERE session_id = $1 AND ($2 IS NULL OR version < $2) ORDER BY version DESC LIMIT $3

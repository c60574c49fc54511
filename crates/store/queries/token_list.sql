SELECT * FROM tokens WHERE ($1 IS NULL OR partition = $1) ORDER BY created_at, token_id

DELETE FROM tokens WHERE token_id = $1

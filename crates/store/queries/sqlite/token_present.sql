SELECT token_id FROM tokens WHERE token_id IN (SELECT value FROM json_each($1))

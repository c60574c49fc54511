SELECT token_id FROM tokens WHERE token_id IN (SELECT json_array_elements_text($1::json))

UPDATE versions SET label = $3 WHERE session_id = $1 AND version = $2 AND expired = 0

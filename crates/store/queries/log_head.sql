SELECT head FROM logs WHERE session_id = $1 AND head IS NOT NULL

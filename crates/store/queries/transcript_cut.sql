DELETE FROM transcript_chunks WHERE session_id = $1 AND thread = $2 AND start >= $3

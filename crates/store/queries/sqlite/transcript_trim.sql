UPDATE transcript_chunks SET bytes = substr(bytes, 1, $3 - start)
WHERE session_id = $1 AND thread = $2 AND start < $3 AND start + length(bytes) > $3

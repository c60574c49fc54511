UPDATE transcript_chunks SET bytes = substring(bytes FROM 1 FOR ($3 - start)::int)
WHERE session_id = $1 AND thread = $2 AND start < $3 AND start + length(bytes) > $3

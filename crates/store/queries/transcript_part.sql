-- The chunks that have something of the bytes from $3 up to $4.
SELECT start, bytes FROM transcript_chunks
WHERE session_id = $1 AND thread = $2 AND start < $4 AND start + length(bytes) > $3
ORDER BY start

SELECT thread, max(start + length(bytes)) AS ends FROM transcript_chunks
WHERE session_id = $1 GROUP BY thread ORDER BY thread

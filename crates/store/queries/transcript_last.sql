-- Where the thread's last chunk begins and ends, if the session exists.
SELECT coalesce(chunk.start, -1) AS start, coalesce(chunk.start + length(chunk.bytes), 0) AS ends
FROM sessions
LEFT JOIN transcript_chunks AS chunk ON chunk.session_id = sessions.session_id AND chunk.thread = $2
WHERE sessions.session_id = $1
ORDER BY chunk.start DESC
LIMIT 1

INSERT INTO transcript_chunks (session_id, thread, start, bytes) VALUES ($1, $2, $3, $4)

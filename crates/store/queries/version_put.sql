INSERT INTO versions (session_id, version, base, cause, run_id, seq, created_at, tree, transcripts, usage, label)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)

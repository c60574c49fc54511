INSERT INTO versions (session_id, version, base, cause, run_id, seq, created_at, tree, transcripts, usage, label,
                      memory, size_bytes, files, blocks, excluded, shared, restored, expired, skipped, unstable)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21)

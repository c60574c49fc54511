INSERT INTO idempotency_keys (session_id, key, request, run_id, seq, expires_at) VALUES ($1, $2, $3, $4, $5, $6)

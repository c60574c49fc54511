SELECT * FROM idempotency_keys WHERE session_id = $1 AND key = $2 AND expires_at > $3

DELETE FROM idempotency_keys WHERE session_id = $1 AND expires_at <= $2

INSERT INTO runs (session_id, run_id, status, input, created_at, started_at, ended_at, base_version, version, seq,
                  input_tokens, output_tokens, cache_read_tokens, cache_write_tokens, thinking_tokens,
                  estimated_tokens, total_tokens, cost_usd, model, error_code, error_message)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21)
ON CONFLICT (session_id, run_id) DO UPDATE
SET status = excluded.status, input = excluded.input, created_at = excluded.created_at,
    started_at = excluded.started_at, ended_at = excluded.ended_at, base_version = excluded.base_version,
    version = excluded.version, seq = excluded.seq, input_tokens = excluded.input_tokens,
    output_tokens = excluded.output_tokens, cache_read_tokens = excluded.cache_read_tokens,
    cache_write_tokens = excluded.cache_write_tokens, thinking_tokens = excluded.thinking_tokens,
    estimated_tokens = excluded.estimated_tokens, total_tokens = excluded.total_tokens, cost_usd = excluded.cost_usd,
    model = excluded.model, error_code = excluded.error_code, error_message = excluded.error_message

INSERT INTO erased_runs (partition, project_id, agent_type, ended_at, input_tokens, output_tokens, cache_read_tokens,
                         cache_write_tokens, thinking_tokens, estimated_tokens, total_tokens, cost_usd, model)
SELECT sessions.partition, sessions.project_id, sessions.agent_type, runs.ended_at, runs.input_tokens,
       runs.output_tokens, runs.cache_read_tokens, runs.cache_write_tokens, runs.thinking_tokens,
       runs.estimated_tokens, runs.total_tokens, runs.cost_usd, runs.model
FROM runs JOIN sessions ON sessions.session_id = runs.session_id
WHERE runs.session_id = $1 AND runs.ended_at IS NOT NULL

-- $1 says how to group; days are counted from 1970. The model is named only where all runs of the group agree.
-- What erased sessions spent counts too, but no session is named for it.
SELECT CASE $1 WHEN 'day' THEN CAST(spent.ended_at / 86400000 AS TEXT)
               WHEN 'model' THEN coalesce(spent.model, 'unknown')
               WHEN 'session' THEN spent.session_id
               WHEN 'agent' THEN spent.agent_type
               ELSE spent.project_id END AS spender,
       count(*) AS runs,
       CAST(sum(spent.input_tokens) AS BIGINT) AS input_tokens,
       CAST(sum(spent.output_tokens) AS BIGINT) AS output_tokens,
       CAST(sum(spent.cache_read_tokens) AS BIGINT) AS cache_read_tokens,
       CAST(sum(spent.cache_write_tokens) AS BIGINT) AS cache_write_tokens,
       CAST(sum(spent.thinking_tokens) AS BIGINT) AS thinking_tokens,
       CAST(sum(spent.estimated_tokens) AS BIGINT) AS estimated_tokens,
       CAST(sum(spent.total_tokens) AS BIGINT) AS total_tokens,
       sum(spent.cost_usd) AS cost_usd,
       CASE WHEN count(DISTINCT coalesce(spent.model, '')) = 1 THEN max(spent.model) END AS model
FROM (SELECT runs.session_id, sessions.partition, sessions.project_id, sessions.agent_type, runs.ended_at,
             runs.input_tokens, runs.output_tokens, runs.cache_read_tokens, runs.cache_write_tokens,
             runs.thinking_tokens, runs.estimated_tokens, runs.total_tokens, runs.cost_usd, runs.model
      FROM runs JOIN sessions ON sessions.session_id = runs.session_id
      WHERE runs.ended_at IS NOT NULL
      UNION ALL
      SELECT 'erased' AS session_id, partition, project_id, agent_type, ended_at,
             input_tokens, output_tokens, cache_read_tokens, cache_write_tokens,
             thinking_tokens, estimated_tokens, total_tokens, cost_usd, model
      FROM erased_runs) AS spent
WHERE ($2 IS NULL OR spent.partition = $2)
  AND ($3 IS NULL OR spent.project_id = $3)
  AND ($4 IS NULL OR spent.ended_at >= $4)
  AND ($5 IS NULL OR spent.ended_at < $5)
GROUP BY spender
ORDER BY spender

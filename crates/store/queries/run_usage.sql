-- $1 says how to group; days are counted from 1970. The model is named only where all runs of the group agree.
SELECT CASE $1 WHEN 'day' THEN CAST(runs.ended_at / 86400000 AS TEXT)
               WHEN 'model' THEN coalesce(runs.model, 'unknown')
               WHEN 'session' THEN runs.session_id
               WHEN 'agent' THEN sessions.agent_type
               ELSE sessions.project_id END AS spender,
       count(*) AS runs,
       CAST(sum(runs.input_tokens) AS BIGINT) AS input_tokens,
       CAST(sum(runs.output_tokens) AS BIGINT) AS output_tokens,
       CAST(sum(runs.cache_read_tokens) AS BIGINT) AS cache_read_tokens,
       CAST(sum(runs.cache_write_tokens) AS BIGINT) AS cache_write_tokens,
       CAST(sum(runs.thinking_tokens) AS BIGINT) AS thinking_tokens,
       CAST(sum(runs.estimated_tokens) AS BIGINT) AS estimated_tokens,
       CAST(sum(runs.total_tokens) AS BIGINT) AS total_tokens,
       sum(runs.cost_usd) AS cost_usd,
       CASE WHEN count(DISTINCT coalesce(runs.model, '')) = 1 THEN max(runs.model) END AS model
FROM runs JOIN sessions ON sessions.session_id = runs.session_id
WHERE runs.ended_at IS NOT NULL
  AND ($2 IS NULL OR sessions.partition = $2)
  AND ($3 IS NULL OR sessions.project_id = $3)
  AND ($4 IS NULL OR runs.ended_at >= $4)
  AND ($5 IS NULL OR runs.ended_at < $5)
GROUP BY spender
ORDER BY spender

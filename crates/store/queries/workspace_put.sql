-- The lowest free user number at or above $5: $5 itself, or the one after some other workspace's.
INSERT INTO workspaces (workspace_id, partition, project_id, uid, created_at)
SELECT $1, $2, $3, min(candidate.uid), $4
FROM (SELECT CAST($5 AS BIGINT) AS uid UNION ALL SELECT uid + 1 FROM workspaces WHERE uid >= $5) AS candidate
WHERE NOT EXISTS (SELECT 1 FROM workspaces AS taken WHERE taken.uid = candidate.uid)
ON CONFLICT (workspace_id) DO NOTHING

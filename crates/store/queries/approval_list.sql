SELECT approvals.*
FROM approvals JOIN sessions ON sessions.session_id = approvals.session_id
WHERE ($1 IS NULL OR sessions.partition = $1)
  AND ($2 IS NULL OR sessions.project_id = $2)
  AND ($3 IS NULL OR approvals.session_id = $3)
  AND ($4 IS NULL OR (approvals.resolution IS NULL AND approvals.expires_at > $4))
  AND ($5 IS NULL OR approvals.resolution IS NOT NULL OR approvals.expires_at <= $5)
  AND ($6 IS NULL OR approvals.approval_id < $6)
ORDER BY approvals.approval_id DESC
LIMIT $7

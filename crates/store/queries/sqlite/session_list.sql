SELECT sessions.*, logs.head, logs.version, logs.last_activity
FROM sessions JOIN logs ON logs.session_id = sessions.session_id
WHERE ($1 IS NULL OR sessions.partition = $1)
  AND ($2 IS NULL OR sessions.project_id = $2)
  AND ($3 IS NULL OR sessions.agent_type = $3)
  AND ($4 IS NULL OR sessions.name_folded LIKE $4 ESCAPE '\' OR sessions.session_id LIKE $4 ESCAPE '\')
  AND ($5 IS NULL OR sessions.session_id IN (SELECT value FROM json_each($5)))
  AND ($6 IS NULL OR sessions.session_id < $6)
  AND ($8 IS NULL OR sessions.workspace_id = $8)
ORDER BY sessions.session_id DESC
LIMIT $7

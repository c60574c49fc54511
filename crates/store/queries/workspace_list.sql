SELECT * FROM workspaces WHERE project_id = $1 ORDER BY created_at, workspace_id

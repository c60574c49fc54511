SELECT * FROM workspaces WHERE workspace_id = $1

SELECT * FROM projects WHERE ($1 IS NULL OR partition = $1) ORDER BY created_at, project_id

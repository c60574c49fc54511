SELECT * FROM projects WHERE project_id = $1

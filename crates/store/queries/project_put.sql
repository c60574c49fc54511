INSERT INTO projects (project_id, partition, name, options, created_at) VALUES ($1, $2, $3, $4, $5)
ON CONFLICT (partition, name) DO NOTHING

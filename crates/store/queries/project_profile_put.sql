INSERT INTO project_profiles (partition, project_id, profile_id, profile) VALUES ($1, $2, $3, $4)
ON CONFLICT (partition, project_id, profile_id) DO UPDATE SET profile = excluded.profile

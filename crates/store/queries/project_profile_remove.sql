DELETE FROM project_profiles WHERE partition = $1 AND project_id = $2 AND profile_id = $3

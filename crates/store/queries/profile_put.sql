INSERT INTO profiles (partition, profile_id, profile) VALUES ($1, $2, $3)
ON CONFLICT (partition, profile_id) DO UPDATE SET profile = excluded.profile

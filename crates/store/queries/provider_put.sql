INSERT INTO model_providers (provider, base_url, sealed_key, updated_at) VALUES ($1, $2, $3, $4)
ON CONFLICT (provider) DO UPDATE
SET base_url = excluded.base_url, sealed_key = excluded.sealed_key, updated_at = excluded.updated_at

SELECT provider, base_url, sealed_key, updated_at FROM model_providers ORDER BY provider

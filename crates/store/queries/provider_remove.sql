DELETE FROM model_providers WHERE provider = $1

INSERT INTO blob_storage (one, storage_id) VALUES (1, $1) ON CONFLICT (one) DO NOTHING

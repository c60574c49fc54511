SELECT storage_id FROM blob_storage WHERE one = 1

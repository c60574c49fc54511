INSERT INTO tokens (token_id, partition, hash, scope, name, created_at, expires_at, owner, plan, parent)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)

INSERT INTO message_counts (account, since, used) VALUES ($1, $2, 1)
ON CONFLICT (account, since) DO UPDATE SET used = message_counts.used + 1
WHERE CAST($3 AS BIGINT) IS NULL OR message_counts.used < CAST($3 AS BIGINT)
RETURNING used

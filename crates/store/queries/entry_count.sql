SELECT count(*), CAST(coalesce(sum(length(json)), 0) AS BIGINT)
FROM entries
WHERE log = $1 AND seq >= $2 AND seq <= $3

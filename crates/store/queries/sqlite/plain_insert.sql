-- The entries of every commit that finds its log as it expects it. $1: rows of [session, fence, expected head,
-- last activity or null, its entries as [place in $2, length], bytes added]; $2: their bytes in a row.
INSERT INTO entries (log, seq, json)
SELECT logs.log, logs.head + 1 + entry.key, substr($2, entry.value ->> 0, entry.value ->> 1)
FROM json_each($1) AS plain
JOIN logs ON logs.session_id = plain.value ->> 0
JOIN json_each(plain.value, '$[4]') AS entry
WHERE logs.fence <= plain.value ->> 1 AND logs.head = plain.value ->> 2

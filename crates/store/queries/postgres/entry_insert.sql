-- All entries of a batch in one statement. $1: rows of [log, seq, place in $2, length]; $2: their bytes in a row.
INSERT INTO entries (log, seq, json)
SELECT (row ->> 0)::bigint, (row ->> 1)::bigint, substring($2::bytea FROM (row ->> 2)::int FOR (row ->> 3)::int)
FROM json_array_elements($1::json) AS row

-- All entries of a batch in one statement. $1: rows of [log, seq, place in $2, length]; $2: their bytes in a row.
INSERT INTO entries (log, seq, json)
SELECT value ->> 0, value ->> 1, substr($2, value ->> 2, value ->> 3)
FROM json_each($1)

-- All of a batch in one statement. $1: rows of [log, seq, place in $2, length]; $2: the entries' bytes in a row;
-- $3: rows of [log, head, version, last activity or null, bytes added].
WITH moved AS (
    UPDATE logs
    SET head = moved.head, version = moved.version,
        last_activity = coalesce(moved.last_activity, logs.last_activity),
        bytes = logs.bytes + moved.added
    FROM (SELECT (row ->> 0)::bigint AS log, (row ->> 1)::bigint AS head, (row ->> 2)::bigint AS version,
                 (row ->> 3)::bigint AS last_activity, (row ->> 4)::bigint AS added
          FROM json_array_elements($3::json) AS row) AS moved
    WHERE logs.log = moved.log
)
INSERT INTO entries (log, seq, json)
SELECT (row ->> 0)::bigint, (row ->> 1)::bigint, substring($2::bytea FROM (row ->> 2)::int FOR (row ->> 3)::int)
FROM json_array_elements($1::json) AS row

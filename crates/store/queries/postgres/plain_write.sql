-- The entries of every commit that finds its log as it expects it; says which they were. $1: rows of [session, fence,
-- expected head, last activity or null, its entries as [place in $2, length], bytes added]; $2: their bytes in a row.
WITH plain AS (
    SELECT row ->> 0 AS session_id, (row ->> 1)::bigint AS fence, (row ->> 2)::bigint AS expected,
           (row ->> 3)::bigint AS last_activity, row -> 4 AS entries, (row ->> 5)::bigint AS added
    FROM json_array_elements($1::json) AS row
), found AS (
    -- In one order everywhere, so that two nodes never wait for each other in a circle.
    SELECT logs.log, logs.session_id, plain.expected, plain.last_activity, plain.entries, plain.added
    FROM logs JOIN plain ON logs.session_id = plain.session_id
    WHERE logs.fence <= plain.fence AND logs.head = plain.expected
    ORDER BY logs.session_id
    FOR UPDATE OF logs
), moved AS (
    UPDATE logs
    SET head = found.expected + json_array_length(found.entries),
        last_activity = coalesce(found.last_activity, logs.last_activity),
        bytes = logs.bytes + found.added
    FROM found
    WHERE logs.log = found.log
), written AS (
    INSERT INTO entries (log, seq, json)
    SELECT found.log, found.expected + entry.place,
           substring($2::bytea FROM (entry.value ->> 0)::int FOR (entry.value ->> 1)::int)
    FROM found, json_array_elements(found.entries) WITH ORDINALITY AS entry (value, place)
)
SELECT session_id FROM found

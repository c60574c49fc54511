-- Moves the same logs, and says which they were.
UPDATE logs
SET head = plain.head, last_activity = coalesce(plain.last_activity, logs.last_activity),
    bytes = logs.bytes + plain.added
FROM (SELECT value ->> 0 AS session_id, value ->> 1 AS fence, value ->> 2 AS expected,
             (value ->> 2) + json_array_length(value, '$[4]') AS head, value ->> 3 AS last_activity,
             value ->> 5 AS added
      FROM json_each($1)) AS plain
WHERE logs.session_id = plain.session_id AND logs.fence <= plain.fence AND logs.head = plain.expected
RETURNING logs.session_id

-- $1: rows of [log, head, version, last activity or null].
UPDATE logs
SET head = moved.head, version = moved.version, last_activity = coalesce(moved.last_activity, logs.last_activity)
FROM (SELECT (row ->> 0)::bigint AS log, (row ->> 1)::bigint AS head, (row ->> 2)::bigint AS version,
             (row ->> 3)::bigint AS last_activity
      FROM json_array_elements($1::json) AS row) AS moved
WHERE logs.log = moved.log

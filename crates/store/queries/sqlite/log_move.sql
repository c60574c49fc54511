-- $3: rows of [log, head, version, last activity or null, bytes added]. The numbers before it belong to the entries.
UPDATE logs
SET head = moved.head, version = moved.version, last_activity = coalesce(moved.last_activity, logs.last_activity),
    bytes = logs.bytes + moved.added
FROM (SELECT value ->> 0 AS log, value ->> 1 AS head, value ->> 2 AS version, value ->> 3 AS last_activity,
             value ->> 4 AS added
      FROM json_each($3)) AS moved
WHERE logs.log = moved.log

SELECT session_id, log, head, version, fence
FROM logs
WHERE session_id IN (SELECT value FROM json_each($1))

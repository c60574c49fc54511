-- In one order everywhere, so that two nodes never wait for each other in a circle.
SELECT session_id, log, head, version, fence
FROM logs
WHERE session_id IN (SELECT json_array_elements_text($1::json))
ORDER BY session_id
FOR UPDATE

SELECT seq, json
FROM entries
WHERE log = (SELECT log FROM logs WHERE session_id = $1) AND seq > $2
ORDER BY seq
LIMIT $3

DELETE FROM entries WHERE log = (SELECT log FROM logs WHERE session_id = $1) AND seq >= $2 AND seq < $3;
UPDATE entries SET json = $4 WHERE log = (SELECT log FROM logs WHERE session_id = $1) AND seq = $3

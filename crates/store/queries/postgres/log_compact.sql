WITH found AS (SELECT log FROM logs WHERE session_id = $1),
     gone AS (DELETE FROM entries USING found WHERE entries.log = found.log AND seq >= $2 AND seq < $3)
UPDATE entries SET json = $4 FROM found WHERE entries.log = found.log AND seq = $3

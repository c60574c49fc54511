UPDATE entries SET json = $3 WHERE log = $1 AND seq = $2

DELETE FROM entries WHERE log = $1 AND seq >= $2 AND seq < $3

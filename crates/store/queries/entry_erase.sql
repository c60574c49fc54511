DELETE FROM entries WHERE log = $1

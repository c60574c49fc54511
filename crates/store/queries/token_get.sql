SELECT * FROM tokens WHERE hash = $1

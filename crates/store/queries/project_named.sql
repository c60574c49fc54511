SELECT * FROM projects WHERE partition = $1 AND name = $2

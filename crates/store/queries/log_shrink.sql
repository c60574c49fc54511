UPDATE logs SET bytes = CASE WHEN bytes > $2 THEN bytes - $2 ELSE 0 END WHERE log = $1

-- The latest and those with a label are never emptied, whoever labels one meanwhile.
UPDATE versions SET tree = NULL, memory = NULL, expired = 1
WHERE session_id = $1 AND version = $2 AND expired = 0 AND label IS NULL
  AND version < (SELECT version FROM logs WHERE session_id = $1)

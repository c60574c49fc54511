-- One entry, if its log is as it expects it. $1: session; $2: fence; $3: expected head; $5: the entry.
INSERT INTO entries (log, seq, json)
SELECT log, head + 1, $5 FROM logs WHERE session_id = $1 AND fence <= $2 AND head = $3

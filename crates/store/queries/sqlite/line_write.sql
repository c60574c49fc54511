-- One entry, if its log is as it expects it; fails by the trigger's word if it is not. $1: session; $2: fence;
-- $3: expected head; $4: last activity or null; $5: the entry.
INSERT INTO lines (session_id, fence, expected, last_activity, json) VALUES ($1, $2, $3, $4, $5)

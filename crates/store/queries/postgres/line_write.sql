-- One entry, if its log is as it expects it; says whether it was. $1: session; $2: fence; $3: expected head;
-- $4: last activity or null; $5: the entry.
WITH moved AS (
    UPDATE logs SET head = head + 1, last_activity = coalesce($4, last_activity), bytes = bytes + length($5::bytea)
    WHERE session_id = $1 AND fence <= $2 AND head = $3
    RETURNING log, session_id, head
), written AS (
    INSERT INTO entries (log, seq, json) SELECT log, head, $5 FROM moved
)
SELECT session_id FROM moved

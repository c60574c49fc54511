-- Counts since the beginning have no end.
DELETE FROM message_counts WHERE since > 0 AND since < $1

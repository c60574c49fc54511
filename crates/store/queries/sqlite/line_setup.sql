-- What `line_write.sql` writes to: each connection that writes has it, and the database knows nothing of it.
CREATE TEMP VIEW lines AS
SELECT session_id, fence, head AS expected, last_activity, NULL AS json FROM logs;

CREATE TEMP TRIGGER lines_write INSTEAD OF INSERT ON lines
BEGIN
    INSERT INTO entries (log, seq, json)
    SELECT log, head + 1, NEW.json FROM logs
    WHERE session_id = NEW.session_id AND fence <= NEW.fence AND head = NEW.expected;

    UPDATE logs SET head = head + 1, last_activity = coalesce(NEW.last_activity, last_activity),
                    bytes = bytes + length(NEW.json)
    WHERE session_id = NEW.session_id AND fence <= NEW.fence AND head = NEW.expected;

    SELECT RAISE(ABORT, 'the log is not as the line expects it') WHERE changes() = 0;
END;

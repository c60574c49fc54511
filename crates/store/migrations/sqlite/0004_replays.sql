-- Runs and sessions that were carried out once more, and what came of it. `report` is JSON; `log` names a blob.
CREATE TABLE replays (
    replay_id  TEXT   NOT NULL PRIMARY KEY,
    session_id TEXT   NOT NULL REFERENCES sessions ON DELETE CASCADE,
    node       TEXT   NOT NULL,
    started_at BIGINT NOT NULL,
    ended_at   BIGINT,
    report     TEXT   NOT NULL,
    log        TEXT
);
CREATE INDEX replays_by_session ON replays (session_id, replay_id);

INSERT INTO replays (replay_id, session_id, node, started_at, ended_at, report, log)
VALUES ($1, $2, $3, $4, $5, $6, $7)
ON CONFLICT (replay_id) DO UPDATE
SET node = excluded.node, started_at = excluded.started_at, ended_at = excluded.ended_at, report = excluded.report,
    log = excluded.log

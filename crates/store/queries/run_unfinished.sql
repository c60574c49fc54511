SELECT * FROM runs WHERE status IN ('queued', 'running') ORDER BY run_id

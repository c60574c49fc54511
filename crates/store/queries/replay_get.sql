SELECT * FROM replays WHERE session_id = $1 AND replay_id = $2

SELECT seq, format, hash, state FROM checkpoints WHERE session_id = $1

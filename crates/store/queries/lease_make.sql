INSERT INTO logs (session_id) VALUES ($1) ON CONFLICT (session_id) DO NOTHING

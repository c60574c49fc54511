-- On whose behalf a session was made. NULL: a service's, or made before this was kept.
ALTER TABLE sessions ADD COLUMN made_by TEXT;

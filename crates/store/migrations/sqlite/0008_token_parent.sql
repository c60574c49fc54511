-- The token that a sign-in was made from: it ends with that one. NULL: it stands by itself, or was made before this was kept.
ALTER TABLE tokens ADD COLUMN parent TEXT REFERENCES tokens (token_id) ON DELETE CASCADE;
CREATE INDEX tokens_by_parent ON tokens (parent);

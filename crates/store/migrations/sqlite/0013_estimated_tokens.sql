-- Tokens of a run that no provider reported. Part of total_tokens; earlier servers estimated none.
ALTER TABLE runs ADD COLUMN estimated_tokens BIGINT NOT NULL DEFAULT 0;

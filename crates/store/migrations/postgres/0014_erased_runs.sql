-- What runs of erased sessions spent: for the sums of usage, and with nothing in it that says which session it was.
CREATE TABLE erased_runs (
    partition          TEXT   NOT NULL,
    project_id         TEXT   NOT NULL,
    agent_type         TEXT   NOT NULL,
    ended_at           BIGINT NOT NULL,
    input_tokens       BIGINT NOT NULL,
    output_tokens      BIGINT NOT NULL,
    cache_read_tokens  BIGINT NOT NULL,
    cache_write_tokens BIGINT NOT NULL,
    thinking_tokens    BIGINT NOT NULL,
    estimated_tokens   BIGINT NOT NULL,
    total_tokens       BIGINT NOT NULL,
    cost_usd           DOUBLE PRECISION NOT NULL,
    model              TEXT
);
CREATE INDEX erased_runs_by_end ON erased_runs (ended_at);

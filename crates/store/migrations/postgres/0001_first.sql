-- Names and paths are COLLATE "C": lists are in byte order whatever the locale of the database.

-- One row for each log: where it ends and who may write to it. Small, because every commit rewrites it.
CREATE TABLE logs (
    log           BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY, -- its name in `entries`, where a short one counts
    session_id    TEXT COLLATE "C" NOT NULL UNIQUE,
    head          BIGINT,                     -- NULL while there is only a lease and no session yet
    version       BIGINT NOT NULL DEFAULT 0,
    last_activity BIGINT NOT NULL DEFAULT 0,
    fence         BIGINT NOT NULL DEFAULT 0,
    holder        TEXT   NOT NULL DEFAULT '', -- empty: nobody
    held_until    BIGINT NOT NULL DEFAULT 0
) WITH (fillfactor = 50); -- room beside each row, so that an update touches no index
CREATE INDEX logs_by_holder ON logs (holder) WHERE holder <> '';

-- The entries, in the order of their arrival. Written only after their row in `logs` was checked.
CREATE TABLE entries (
    log  BIGINT NOT NULL,
    seq  BIGINT NOT NULL,
    json BYTEA  NOT NULL,
    PRIMARY KEY (log, seq)
);

CREATE TABLE sessions (
    session_id     TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    partition      TEXT   NOT NULL,
    project_id     TEXT COLLATE "C" NOT NULL,
    workspace_id   TEXT COLLATE "C" NOT NULL,
    agent_type     TEXT   NOT NULL,
    profile        TEXT   NOT NULL,
    name           TEXT,
    name_folded    TEXT   NOT NULL,           -- lower case, for searching
    metadata       TEXT   NOT NULL,
    options        TEXT   NOT NULL,
    forked_session TEXT,
    forked_version BIGINT,
    created_at     BIGINT NOT NULL
);
CREATE INDEX sessions_by_project ON sessions (project_id, session_id);

CREATE TABLE runs (
    session_id         TEXT COLLATE "C" NOT NULL REFERENCES sessions ON DELETE CASCADE,
    run_id             TEXT COLLATE "C" NOT NULL,
    status             TEXT   NOT NULL,
    input              TEXT   NOT NULL,
    created_at         BIGINT NOT NULL,
    started_at         BIGINT,
    ended_at           BIGINT,
    base_version       BIGINT,
    version            BIGINT,
    seq                BIGINT NOT NULL,
    input_tokens       BIGINT NOT NULL,
    output_tokens      BIGINT NOT NULL,
    cache_read_tokens  BIGINT NOT NULL,
    cache_write_tokens BIGINT NOT NULL,
    thinking_tokens    BIGINT NOT NULL,
    total_tokens       BIGINT NOT NULL,
    cost_usd           DOUBLE PRECISION NOT NULL,
    model              TEXT,
    error_code         TEXT,
    error_message      TEXT,
    PRIMARY KEY (session_id, run_id)
);
CREATE INDEX runs_unfinished ON runs (run_id) WHERE status IN ('queued', 'running');
CREATE INDEX runs_by_end ON runs (ended_at);

CREATE TABLE versions (
    session_id  TEXT COLLATE "C" NOT NULL REFERENCES sessions ON DELETE CASCADE,
    version     BIGINT NOT NULL,
    base        BIGINT NOT NULL,
    cause       TEXT   NOT NULL,
    run_id      TEXT,
    seq         BIGINT NOT NULL,
    created_at  BIGINT NOT NULL,
    tree        TEXT,
    transcripts TEXT   NOT NULL,
    usage       TEXT   NOT NULL,
    label       TEXT,
    PRIMARY KEY (session_id, version)
);

CREATE TABLE idempotency_keys (
    session_id TEXT COLLATE "C" NOT NULL REFERENCES sessions ON DELETE CASCADE,
    key        TEXT COLLATE "C" NOT NULL,
    request    TEXT   NOT NULL,
    run_id     TEXT COLLATE "C" NOT NULL,
    seq        BIGINT NOT NULL,
    expires_at BIGINT NOT NULL,
    PRIMARY KEY (session_id, key)
);

CREATE TABLE workspace_files (
    session_id TEXT COLLATE "C" NOT NULL REFERENCES sessions ON DELETE CASCADE,
    path       TEXT COLLATE "C" NOT NULL,
    file       TEXT NOT NULL,
    PRIMARY KEY (session_id, path)
);

-- A transcript is its chunks, one after the other. The one that starts at 0 is always there.
CREATE TABLE transcript_chunks (
    session_id TEXT COLLATE "C" NOT NULL REFERENCES sessions ON DELETE CASCADE,
    thread     TEXT COLLATE "C" NOT NULL,
    start      BIGINT NOT NULL,
    bytes      BYTEA  NOT NULL,
    PRIMARY KEY (session_id, thread, start)
);

CREATE TABLE profiles (
    partition  TEXT NOT NULL,
    profile_id TEXT COLLATE "C" NOT NULL,
    profile    TEXT NOT NULL,
    PRIMARY KEY (partition, profile_id)
);

CREATE TABLE tokens (
    token_id   TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    partition  TEXT   NOT NULL,
    hash       TEXT   NOT NULL UNIQUE,
    scope      TEXT   NOT NULL,
    name       TEXT   NOT NULL,
    created_at BIGINT NOT NULL,
    expires_at BIGINT
);

CREATE TABLE projects (
    project_id TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    partition  TEXT   NOT NULL,
    name       TEXT   NOT NULL,
    options    TEXT   NOT NULL,
    created_at BIGINT NOT NULL,
    UNIQUE (partition, name)
);

CREATE TABLE workspaces (
    workspace_id TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    partition    TEXT   NOT NULL,
    project_id   TEXT COLLATE "C" NOT NULL,
    uid          BIGINT NOT NULL UNIQUE,
    created_at   BIGINT NOT NULL
);
CREATE INDEX workspaces_by_project ON workspaces (project_id);

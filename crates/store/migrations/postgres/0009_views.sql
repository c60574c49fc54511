-- Views: what a log folds to, kept so that reading a page costs what the page costs. A cache: what is in these two
-- tables can be dropped at any time and is made again from the log.

-- Up to which entry a session's items are folded, and its state there. `hash` is that of the rest of the row.
CREATE TABLE checkpoints (
    session_id TEXT   NOT NULL PRIMARY KEY REFERENCES sessions ON DELETE CASCADE,
    seq        BIGINT NOT NULL,
    format     BIGINT NOT NULL,
    hash       TEXT   NOT NULL,
    state      BYTEA  NOT NULL
);

-- Blocks and threads. `place` is NULL once an item was discarded; `first_seq` stays.
CREATE TABLE view_items (
    session_id TEXT   NOT NULL REFERENCES sessions ON DELETE CASCADE,
    item_key   TEXT   NOT NULL,
    list       TEXT   NOT NULL,
    place      BIGINT,
    first_seq  BIGINT NOT NULL,
    body       BYTEA  NOT NULL,
    PRIMARY KEY (session_id, item_key)
);
CREATE INDEX view_items_by_place ON view_items (session_id, list, place);

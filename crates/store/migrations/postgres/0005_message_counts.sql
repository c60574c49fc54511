-- How many messages were sent on an account's behalf since a time: one row for each span that has a limit.
CREATE TABLE message_counts (
    account TEXT   NOT NULL,
    since   BIGINT NOT NULL,
    used    BIGINT NOT NULL,
    PRIMARY KEY (account, since)
);

-- Whose the token is, and how much its owner may send. NULL: the token's own, and what its scope is given.
ALTER TABLE tokens ADD COLUMN owner TEXT;
ALTER TABLE tokens ADD COLUMN plan TEXT;

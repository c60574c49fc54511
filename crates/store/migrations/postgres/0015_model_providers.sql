-- What administrators set for model providers while the server ran. A key is here only as ciphertext: what opens it is in
-- a file of the data directory, never in the database.
CREATE TABLE model_providers (
    provider   TEXT   NOT NULL PRIMARY KEY,
    base_url   TEXT,
    sealed_key TEXT,
    updated_at BIGINT NOT NULL
);

-- Profiles that belong to a project. Those of the whole partition stay in `profiles`: a server that does not know about
-- projects' profiles never lists them.
CREATE TABLE project_profiles (
    partition  TEXT NOT NULL,
    project_id TEXT NOT NULL,
    profile_id TEXT NOT NULL,
    profile    TEXT NOT NULL,
    PRIMARY KEY (partition, project_id, profile_id)
);

-- Whose profile a session was created with: `partition` or `project`, its own.
ALTER TABLE sessions ADD COLUMN profile_owner TEXT NOT NULL DEFAULT 'partition';

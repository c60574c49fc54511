INSERT INTO sessions (session_id, partition, project_id, workspace_id, agent_type, profile, name, name_folded,
                      metadata, options, forked_session, forked_version, created_at, made_by, profile_owner)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15)

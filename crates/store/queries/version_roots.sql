SELECT DISTINCT versions.tree, versions.memory
FROM versions JOIN sessions ON sessions.session_id = versions.session_id
WHERE sessions.partition = $1 AND (versions.tree IS NOT NULL OR versions.memory IS NOT NULL)

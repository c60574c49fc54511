UPDATE sessions
SET name = coalesce($2, name), name_folded = coalesce($3, name_folded),
    metadata = coalesce($4, metadata), options = coalesce($5, options)
WHERE session_id = $1

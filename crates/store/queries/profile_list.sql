SELECT profile FROM (
    SELECT profile_id, '' AS project_id, profile FROM profiles WHERE partition = $1
    UNION ALL
    SELECT profile_id, project_id, profile FROM project_profiles
    WHERE partition = $1 AND ($2 IS NULL OR project_id = $2)
) AS both_kinds
ORDER BY profile_id, project_id

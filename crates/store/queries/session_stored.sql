-- What a session's log takes, and what the logs of its project take together.
SELECT own.bytes,
       (SELECT CAST(coalesce(sum(logs.bytes), 0) AS BIGINT)
        FROM sessions JOIN logs ON logs.session_id = sessions.session_id
        WHERE sessions.project_id = mine.project_id)
FROM sessions AS mine JOIN logs AS own ON own.session_id = mine.session_id
WHERE mine.session_id = $1

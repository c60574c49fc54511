SELECT sessions.*, logs.head, logs.version, logs.last_activity
FROM sessions JOIN logs ON logs.session_id = sessions.session_id
WHERE sessions.session_id = $1

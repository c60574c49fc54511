SELECT profile FROM profiles WHERE partition = $1 ORDER BY profile_id

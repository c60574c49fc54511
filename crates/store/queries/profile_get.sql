SELECT profile FROM profiles WHERE partition = $1 AND profile_id = $2

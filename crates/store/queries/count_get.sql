SELECT used FROM message_counts WHERE account = $1 AND since = $2

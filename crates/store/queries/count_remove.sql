DELETE FROM message_counts WHERE account = $1

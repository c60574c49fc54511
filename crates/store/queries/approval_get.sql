SELECT * FROM approvals WHERE approval_id = $1

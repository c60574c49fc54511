INSERT INTO approvals (approval_id, session_id, run_id, request, requested_at, expires_at, resolution, resolved_at)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
ON CONFLICT (approval_id) DO UPDATE
SET session_id = excluded.session_id, run_id = excluded.run_id, request = excluded.request,
    requested_at = excluded.requested_at, expires_at = excluded.expires_at, resolution = excluded.resolution,
    resolved_at = excluded.resolved_at

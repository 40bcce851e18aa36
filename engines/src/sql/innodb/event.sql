SELECT state, claim_token, lease_until, due_at, attempt
  FROM lease_event
 WHERE event_id = :event;

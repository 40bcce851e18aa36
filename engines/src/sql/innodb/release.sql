-- Gives the event back at once: both columns are cleared, since a NULL deadline beside a token
-- would lie outside what a claim looks at. A release is no attempt.
UPDATE lease_event
   SET claim_token = NULL,
       lease_until = NULL,
       attempt = attempt - 1
 WHERE event_id = :event
   AND state = 'PENDING' -- guard: pending
   AND claim_token = :token -- guard: token
;

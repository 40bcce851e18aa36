-- Asks whether the lease is still the caller's and live, by matching its row and changing nothing.
-- An UPDATE and not a SELECT: inside a transaction it keeps the row until the transaction ends, so that nobody
-- takes the event over between the answer and the commit of what relies on it.
-- Its answer is the number of matched rows. Without the flag CLIENT_FOUND_ROWS the server counts
-- changed rows, here always 0, and the rightful owner would believe its lease lost.
UPDATE lease_event
   SET lease_until = lease_until
 WHERE event_id = :event
   AND state = 'PENDING' -- guard: pending
   AND claim_token = :token -- guard: token
   AND lease_until > :now -- guard: live
;

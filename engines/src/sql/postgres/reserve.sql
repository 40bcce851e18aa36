-- In the transaction of the effect: both are there or neither is. The conflict target names the
-- key, so that no other constraint can be taken for a duplicate.
INSERT INTO lease_reservation (consumer, event_id)
VALUES (:consumer, :event)
ON CONFLICT (consumer, event_id) DO NOTHING;

-- In the transaction of the effect: both are there or neither is. The conflict target names the
-- key; INSERT OR IGNORE would also swallow a NULL or a failed CHECK.
INSERT INTO lease_reservation (consumer, event_id)
VALUES (:consumer, :event)
ON CONFLICT (consumer, event_id) DO NOTHING;

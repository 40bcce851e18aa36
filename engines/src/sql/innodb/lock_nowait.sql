SELECT event_id FROM lease_event WHERE event_id = :event FOR UPDATE NOWAIT;

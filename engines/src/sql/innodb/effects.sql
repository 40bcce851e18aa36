SELECT count(*) FROM lease_effect WHERE consumer = :consumer AND event_id = :event;

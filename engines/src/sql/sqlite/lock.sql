-- BEGIN IMMEDIATE has locked the whole file; there is no lock on a row.
SELECT event_id FROM lease_event WHERE event_id = :event;

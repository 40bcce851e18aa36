-- The read fixes the snapshot at REPEATABLE READ and above.
BEGIN;
SELECT count(*) FROM lease_event;

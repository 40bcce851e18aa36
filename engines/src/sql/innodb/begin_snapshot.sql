-- Fixes the snapshot at REPEATABLE READ and above.
START TRANSACTION;
SELECT count(*) FROM lease_event;

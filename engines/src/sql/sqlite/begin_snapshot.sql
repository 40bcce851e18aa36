-- The read fixes the snapshot, and in rollback-journal mode holds off every writer's commit.
BEGIN;
SELECT count(*) FROM lease_event;

-- Stands for the consumer's own work; it has no key, so that a second application shows.
INSERT INTO lease_effect (consumer, event_id) VALUES (:consumer, :event);

-- One row for each event, and the consumer's ledger of events it has handled.
--
-- Ids are compared byte for byte: COLLATE "C" also keeps their order the same on every host.
-- The token is bytea, so no collation and no cast can make two different tokens equal.
-- Instants are integer microseconds: one spelling, one order, no session time zone.
-- The index serves both the filter and the order of a claim, so that a claim reads what it takes.
CREATE TABLE lease_event (
    event_id    text COLLATE "C" PRIMARY KEY,
    state       text NOT NULL DEFAULT 'PENDING' CHECK (state IN ('PENDING', 'DONE', 'DEAD')),
    claim_token bytea CHECK (octet_length(claim_token) BETWEEN 1 AND 64),
    lease_until bigint,
    due_at      bigint NOT NULL,
    attempt     bigint NOT NULL DEFAULT 0,
    enqueued_at bigint NOT NULL,
    CHECK ((claim_token IS NULL) = (lease_until IS NULL))
);
CREATE INDEX lease_event_claim ON lease_event (state, due_at, event_id);
CREATE TABLE lease_reservation (
    consumer text COLLATE "C" NOT NULL,
    event_id text COLLATE "C" NOT NULL,
    PRIMARY KEY (consumer, event_id)
);
CREATE TABLE lease_effect (
    consumer text COLLATE "C" NOT NULL,
    event_id text COLLATE "C" NOT NULL
);
CREATE INDEX lease_effect_event ON lease_effect (consumer, event_id);

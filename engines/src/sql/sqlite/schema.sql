-- One row for each event, and the consumer's ledger of events it has handled.
--
-- STRICT, because a column's type is otherwise a suggestion and a token written as text never
-- equals the same token written as a blob. Text is compared byte for byte (BINARY collation).
-- Instants are integer microseconds: two spellings of one instant as text have no common order.
-- The index serves both the filter and the order of a claim.
CREATE TABLE lease_event (
    event_id    TEXT NOT NULL PRIMARY KEY,
    state       TEXT NOT NULL DEFAULT 'PENDING' CHECK (state IN ('PENDING', 'DONE', 'DEAD')),
    claim_token BLOB CHECK (length(claim_token) BETWEEN 1 AND 64),
    lease_until INTEGER,
    due_at      INTEGER NOT NULL,
    attempt     INTEGER NOT NULL DEFAULT 0,
    enqueued_at INTEGER NOT NULL,
    CHECK ((claim_token IS NULL) = (lease_until IS NULL))
) STRICT;
CREATE INDEX lease_event_claim ON lease_event (state, due_at, event_id);
CREATE TABLE lease_reservation (
    consumer TEXT NOT NULL,
    event_id TEXT NOT NULL,
    PRIMARY KEY (consumer, event_id)
) STRICT, WITHOUT ROWID;
CREATE TABLE lease_effect (
    consumer TEXT NOT NULL,
    event_id TEXT NOT NULL
) STRICT;
CREATE INDEX lease_effect_event ON lease_effect (consumer, event_id);

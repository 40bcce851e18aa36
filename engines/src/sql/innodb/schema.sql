-- One row for each event, and the consumer's ledger of events it has handled.
--
-- Ids are compared byte for byte:
-- utf8mb4_0900_bin is exact; utf8mb4_bin pads trailing blanks, the default folds case and accents.
-- The token is VARBINARY, so no collation can make two different tokens equal.
-- Instants are integer microseconds: one spelling, one order, no session time zone, no year 2038.
-- The index serves both the filter and the order of a claim. Without the order in the index InnoDB
-- sorts, locks every row it sorts, and a second claimer finds an empty queue.
CREATE TABLE lease_event (
    event_id    VARCHAR(255) CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_bin NOT NULL PRIMARY KEY,
    state       VARCHAR(16) CHARACTER SET ascii COLLATE ascii_bin NOT NULL DEFAULT 'PENDING'
                CHECK (state IN ('PENDING', 'DONE', 'DEAD')),
    claim_token VARBINARY(64) CHECK (claim_token <> ''),
    lease_until BIGINT,
    due_at      BIGINT NOT NULL,
    attempt     BIGINT NOT NULL DEFAULT 0,
    enqueued_at BIGINT NOT NULL,
    CHECK ((claim_token IS NULL) = (lease_until IS NULL)),
    INDEX lease_event_claim (state, due_at, event_id)
) ENGINE = InnoDB;
CREATE TABLE lease_reservation (
    consumer VARCHAR(255) CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_bin NOT NULL,
    event_id VARCHAR(255) CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_bin NOT NULL,
    PRIMARY KEY (consumer, event_id)
) ENGINE = InnoDB;
CREATE TABLE lease_effect (
    consumer VARCHAR(255) CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_bin NOT NULL,
    event_id VARCHAR(255) CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_bin NOT NULL,
    INDEX lease_effect_event (consumer, event_id)
) ENGINE = InnoDB;

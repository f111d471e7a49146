-- Schema 2 of the ledger: who it is, and signed heads of its chain. docs/reference/ledger.md, "Signed heads".

-- One row. Drawn once, when the ledger is made or first migrated, so that a signed head says which ledger it speaks of.
CREATE TABLE identity (
  ledger TEXT NOT NULL            -- 32 hexadecimal digits
);
INSERT INTO identity VALUES (lower(hex(randomblob(16))));

CREATE TRIGGER identity_is_not_updated BEFORE UPDATE ON identity
BEGIN SELECT RAISE(ABORT, 'a ledger keeps its identity'); END;

CREATE TRIGGER identity_is_not_deleted BEFORE DELETE ON identity
BEGIN SELECT RAISE(ABORT, 'a ledger keeps its identity'); END;

-- Heads that shapleyd signed, as it would publish them. They add nothing to the books: what proves the past is a copy
-- of such a text somewhere else.
CREATE TABLE heads (
  sequence INTEGER PRIMARY KEY,   -- of the event that the head names
  at       INTEGER NOT NULL,      -- when it was signed
  text     TEXT    NOT NULL
);

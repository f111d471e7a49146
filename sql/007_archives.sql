-- Schema 7 of the ledger: what it begins with, if its older events were moved to an archive. docs/reference/ledger.md,
-- "Archives".

-- One row, or none: then the ledger begins with event 1. Rows of events up to `sequence` that are here all the same are
-- copies of the archive's, which the later ones refer to.
CREATE TABLE genesis (
  sequence     INTEGER NOT NULL,  -- of the archive's last event: the ledger's own begin with the next
  hash         BLOB    NOT NULL,  -- of that event
  events       INTEGER NOT NULL,  -- how many the archive has of its own
  archive      TEXT    NOT NULL,  -- the archive's file, without its directory
  begin        INTEGER NOT NULL,  -- of the period, or of the first of the periods, in the archive
  until        INTEGER NOT NULL,  -- its end: the ledger's own periods begin here
  horizon      INTEGER NOT NULL,  -- the books here know nothing that could be corrected from before this
  books        TEXT    NOT NULL,  -- after the archive's last event, as checkpoints have them
  books_hash   BLOB    NOT NULL,  -- SHA-256 over hash, until and books, as of checkpoints
  copies       INTEGER NOT NULL,  -- how many of the archive's events are here, too
  copies_hash  BLOB    NOT NULL   -- a hash chain of their own over them
);
CREATE TRIGGER genesis_is_not_updated BEFORE UPDATE ON genesis
BEGIN SELECT RAISE(ABORT, 'a ledger keeps its begin'); END;
CREATE TRIGGER genesis_is_not_deleted BEFORE DELETE ON genesis
BEGIN SELECT RAISE(ABORT, 'a ledger keeps its begin'); END;

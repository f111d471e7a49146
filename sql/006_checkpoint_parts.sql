-- Schema 6 of the ledger: checkpoints in parts. docs/reference/ledger.md, "Projections".
--
-- Most of what a checkpoint says, the one before said too. So its text is cut into parts, of which only those are
-- written that are not there yet.

CREATE TABLE checkpoint_parts (
  id   INTEGER PRIMARY KEY,
  text TEXT    NOT NULL
);
-- The text of an older checkpoint is one part.
INSERT INTO checkpoint_parts(id, text) SELECT sequence, text FROM checkpoints;

ALTER TABLE checkpoints RENAME TO checkpoints_of_schema_5;
CREATE TABLE checkpoints (
  sequence INTEGER PRIMARY KEY,   -- the books hold every event up to this one
  at       INTEGER NOT NULL,
  parts    TEXT    NOT NULL,      -- numbers of checkpoint_parts, a space between them: one after the other they are the text
  sha      BLOB    NOT NULL       -- SHA-256 over the hash of event `sequence`, `at` and the text
);
INSERT INTO checkpoints(sequence, at, parts, sha)
SELECT sequence, at, CAST(sequence AS TEXT), sha FROM checkpoints_of_schema_5;
DROP TABLE checkpoints_of_schema_5;

-- A schema that comes after those of sql/, as a later release may bring one: for the test of migrations alone. It gets
-- the next number when sql/ takes this one.
CREATE TABLE notes (
  at   INTEGER PRIMARY KEY,
  text TEXT NOT NULL
);
CREATE VIEW newest_note AS SELECT text FROM notes ORDER BY at DESC LIMIT 1;

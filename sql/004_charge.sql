-- Schema 4 of the ledger: what Slurm allocated of each node beside what a run is charged for it, and what nodes have.
-- docs/reference/ledger.md, "Projections". 0: not known (recorded before schema 4), or none.

ALTER TABLE segment_nodes ADD COLUMN cpus INTEGER NOT NULL DEFAULT 0;
ALTER TABLE segment_nodes ADD COLUMN memory INTEGER NOT NULL DEFAULT 0;   -- MiB
ALTER TABLE segment_nodes ADD COLUMN gres TEXT NOT NULL DEFAULT '';       -- "gres/gpu=2,gres/license=1"

ALTER TABLE capacity ADD COLUMN whole INTEGER NOT NULL DEFAULT 0;         -- micro-processors: runs hold no more together
ALTER TABLE capacity ADD COLUMN cpus INTEGER NOT NULL DEFAULT 0;
ALTER TABLE capacity ADD COLUMN memory INTEGER NOT NULL DEFAULT 0;        -- MiB
ALTER TABLE capacity ADD COLUMN gres TEXT NOT NULL DEFAULT '';

-- Schema 3 of the ledger: the books of a day by organization, and what it gave by organization and estimator, so that
-- another estimator is another row. docs/reference/ledger.md, "Projections".

-- What shapleyd saw of each day as of `at`, from the events up to `sequence`: reproducible for ever.
CREATE TABLE books_by_day (
  day          INTEGER NOT NULL,
  organization TEXT    NOT NULL,
  at           INTEGER NOT NULL,
  sequence     INTEGER NOT NULL,
  period_begin INTEGER NOT NULL,
  psi          TEXT    NOT NULL,  -- micro-processor seconds squared
  got          TEXT    NOT NULL,  -- micro-processor seconds
  owned        INTEGER NOT NULL,
  used         INTEGER NOT NULL,
  waiting      INTEGER NOT NULL,
  lent         INTEGER NOT NULL,
  borrowed     INTEGER NOT NULL,
  PRIMARY KEY (day, organization)
) WITHOUT ROWID;

CREATE TABLE contributions_by_day (
  day          INTEGER NOT NULL,
  organization TEXT    NOT NULL,
  estimator    TEXT    NOT NULL,
  phi          TEXT    NOT NULL,  -- micro-processor seconds squared
  balance      TEXT    NOT NULL,  -- phi - psi
  given        TEXT    NOT NULL,  -- micro-processor seconds
  PRIMARY KEY (day, organization, estimator)
) WITHOUT ROWID;

INSERT INTO books_by_day
SELECT day, organization, at, sequence, period_begin, psi, got, owned, used, waiting, lent, borrowed FROM standings_by_day;

INSERT INTO contributions_by_day
SELECT day, organization, 'direct_contr', phi_direct, balance_direct, given_direct FROM standings_by_day
UNION ALL
SELECT day, organization, 'shapley_rate', phi_rate, balance_rate, given_rate FROM standings_by_day;

DROP TABLE standings_by_day;

-- The table of schemas 1 and 2, for queries that were written for it.
CREATE VIEW standings_by_day AS
SELECT b.day          AS day,
       b.organization AS organization,
       b.at           AS at,
       b.sequence     AS sequence,
       b.period_begin AS period_begin,
       b.psi          AS psi,
       d.phi          AS phi_direct,
       r.phi          AS phi_rate,
       d.balance      AS balance_direct,
       r.balance      AS balance_rate,
       b.got          AS got,
       d.given        AS given_direct,
       r.given        AS given_rate,
       b.owned        AS owned,
       b.used         AS used,
       b.waiting      AS waiting,
       b.lent         AS lent,
       b.borrowed     AS borrowed
FROM books_by_day b
LEFT JOIN contributions_by_day d ON d.day = b.day AND d.organization = b.organization AND d.estimator = 'direct_contr'
LEFT JOIN contributions_by_day r ON r.day = b.day AND r.organization = b.organization AND r.estimator = 'shapley_rate'
ORDER BY b.day, b.organization;

-- The newest recorded row of every organization by every estimator; standing as people read it (docs/concepts.md).
CREATE VIEW balances_by_estimator AS
SELECT c.estimator                                                        AS estimator,
       b.organization                                                     AS organization,
       datetime(b.at, 'unixepoch')                                        AS at_utc,
       ROUND(CAST(b.got AS REAL) / 1e6 / 3600, 3)                         AS got_core_hours,
       ROUND(CAST(c.given AS REAL) / 1e6 / 3600, 3)                       AS given_core_hours,
       ROUND(CAST(c.balance AS REAL) / 1e6 / NULLIF(b.at - b.period_begin, 0) / 3600, 3) AS standing_core_hours,
       b.psi                                                              AS psi,
       c.phi                                                              AS phi
FROM books_by_day b
JOIN contributions_by_day c ON c.day = b.day AND c.organization = b.organization
WHERE b.day = (SELECT MAX(day) FROM books_by_day)
ORDER BY c.estimator, b.organization;

-- Schema 10 of the ledger: views in which every amount says what it is: of which month (UTC) or period, by which
-- estimator, a sum or an average. docs/reference/ledger.md, "Views for auditors". The views of before stay as they are;
-- their sums go over everything that the file holds, and what was given is by direct_contr.

-- Work of each organization's jobs on each owner's processors, month by month.
CREATE VIEW work_by_month AS
WITH RECURSIVE pieces(organization, owner, processors, begin, upto, end) AS (
  SELECT organization, owner, processors, begin,
         MIN(end, CAST(strftime('%s', begin, 'unixepoch', 'start of month', '+1 month') AS INTEGER)), end
  FROM run_shares
  UNION ALL
  SELECT organization, owner, processors, upto,
         MIN(end, CAST(strftime('%s', upto, 'unixepoch', 'start of month', '+1 month') AS INTEGER)), end
  FROM pieces WHERE upto < end
)
SELECT strftime('%Y-%m', begin, 'unixepoch')                AS month,
       organization                                         AS organization,
       owner                                                AS owner,
       SUM(processors * (upto - begin))                     AS processor_seconds,
       ROUND(SUM(processors * (upto - begin)) / 3600.0, 3)  AS core_hours
FROM pieces
GROUP BY 1, 2, 3
ORDER BY 1, 2, 3;

-- Sums of each month: got = own + borrowed; given by direct_contr = own + lent.
CREATE VIEW amounts_by_month AS
WITH sides(month, organization, own, borrowed, lent) AS (
  SELECT month, organization,
         CASE WHEN organization = owner THEN processor_seconds ELSE 0.0 END,
         CASE WHEN organization = owner THEN 0.0 ELSE processor_seconds END, 0.0
  FROM work_by_month
  UNION ALL
  SELECT month, owner, 0.0, 0.0, processor_seconds FROM work_by_month WHERE organization <> owner
)
SELECT month                                         AS month,
       organization                                  AS organization,
       ROUND(SUM(own + borrowed) / 3600.0, 3)        AS got_core_hours_of_month,
       ROUND(SUM(own + lent) / 3600.0, 3)            AS given_core_hours_of_month_direct_contr,
       ROUND(SUM(lent - borrowed) / 3600.0, 3)       AS difference_core_hours_of_month_direct_contr,
       ROUND(SUM(own) / 3600.0, 3)                   AS own_core_hours_of_month,
       ROUND(SUM(lent) / 3600.0, 3)                  AS lent_core_hours_of_month,
       ROUND(SUM(borrowed) / 3600.0, 3)              AS borrowed_core_hours_of_month
FROM sides
GROUP BY month, organization
ORDER BY month, organization;

-- Between each two organizations what one lent the other in a month, less what it got back in that month.
CREATE VIEW who_owes_whom_by_month AS
SELECT w.month                                                               AS month,
       w.organization                                                        AS debtor,
       w.owner                                                               AS creditor,
       ROUND(w.processor_seconds / 3600.0, 3)                                AS used_core_hours_of_month,
       ROUND(COALESCE(r.processor_seconds, 0.0) / 3600.0, 3)                 AS returned_core_hours_of_month,
       ROUND((w.processor_seconds - COALESCE(r.processor_seconds, 0.0)) / 3600.0, 3) AS owed_core_hours_of_month
FROM work_by_month w
LEFT JOIN work_by_month r ON r.month = w.month AND r.organization = w.owner AND r.owner = w.organization
WHERE w.organization <> w.owner AND w.processor_seconds > COALESCE(r.processor_seconds, 0.0)
ORDER BY w.month, owed_core_hours_of_month DESC, debtor, creditor;

-- The books at the last recorded instant of each month, by every estimator: sums of the period so far, and the standing,
-- which is their difference on average over it (what `shapleyctl status` says).
CREATE VIEW standings_by_month AS
SELECT strftime('%Y-%m', b.day, 'unixepoch')                              AS month,
       b.organization                                                     AS organization,
       c.estimator                                                        AS estimator,
       datetime(b.at, 'unixepoch')                                        AS at_utc,
       datetime(b.period_begin, 'unixepoch')                              AS period_begin_utc,
       ROUND(CAST(b.got AS REAL) / 1e6 / 3600, 3)                         AS got_core_hours_of_period_so_far,
       ROUND(CAST(c.given AS REAL) / 1e6 / 3600, 3)                       AS given_core_hours_of_period_so_far,
       ROUND(CAST(c.balance AS REAL) / 1e6 / NULLIF(b.at - b.period_begin, 0) / 3600, 3)
                                                                          AS standing_core_hours_on_average_of_period
FROM books_by_day b
JOIN contributions_by_day c ON c.day = b.day AND c.organization = b.organization
WHERE b.day IN (SELECT MAX(day) FROM books_by_day GROUP BY strftime('%Y-%m', day, 'unixepoch'))
ORDER BY 1, 3, 2;

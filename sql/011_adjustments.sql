-- Schema 11 of the ledger: a kind of event, adjustment_made, and a member of ownership_stated, revision, which an older
-- shapleyd does not know, and a view of the adjustments. docs/reference/ledger.md, "events".

CREATE VIEW adjustments AS
SELECT json_extract(t.payload, '$.number')                    AS number,
       datetime(json_extract(t.payload, '$.at'), 'unixepoch') AS at_utc,
       json_extract(t.payload, '$.kind')                      AS kind,
       json_extract(t.payload, '$.what')                      AS what,
       json_extract(t.payload, '$.into')                      AS into_organization,
       json_extract(t.payload, '$.runs')                      AS runs,
       json_extract(t.payload, '$.author')                    AS author,
       json_extract(t.payload, '$.reason')                    AS reason,
       NULLIF(json_extract(t.payload, '$.reverses'), 0)       AS reverses,
       t.seq                                                  AS seq,
       t.seq + 1                                              AS first_fact,
       t.seq + json_extract(t.payload, '$.facts')             AS last_fact
FROM event_texts t
WHERE t.key >= 'adjustment_made/' AND t.key < 'adjustment_made0'
ORDER BY t.seq;

-- Schema 13 of the ledger: two kinds of event, state_lost and cluster_named, which an older shapleyd does not know, and a
-- view of each.
-- docs/reference/ledger.md, "events".

CREATE VIEW state_losses AS
SELECT t.seq                                                    AS seq,
       datetime(json_extract(t.payload, '$.at'), 'unixepoch')   AS at_utc,
       datetime(json_extract(t.payload, '$.seen'), 'unixepoch') AS seen_utc,
       json_extract(t.payload, '$.closed')                      AS closed,
       json_extract(t.payload, '$.closed_seconds')              AS closed_processor_seconds,
       json_extract(t.payload, '$.retracted')                   AS retracted,
       json_extract(t.payload, '$.retracted_seconds')           AS retracted_processor_seconds
FROM event_texts t
WHERE t.key >= 'state_lost/' AND t.key < 'state_lost0'
ORDER BY t.seq;

CREATE VIEW clusters AS
SELECT t.seq                                                  AS seq,
       datetime(json_extract(t.payload, '$.at'), 'unixepoch') AS at_utc,
       json_extract(t.payload, '$.cluster')                   AS cluster,
       json_extract(t.payload, '$.author')                    AS author,
       json_extract(t.payload, '$.reason')                    AS reason
FROM event_texts t
WHERE t.key >= 'cluster_named/' AND t.key < 'cluster_named0'
ORDER BY t.seq;

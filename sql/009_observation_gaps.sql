-- Schema 9 of the ledger: a kind of event, observation_gap, which an older shapleyd does not know, and a view of it.
-- docs/reference/ledger.md, "Events".

CREATE VIEW observation_gaps AS
SELECT t.seq                                                            AS seq,
       datetime(json_extract(t.payload, '$.begin'), 'unixepoch')        AS begin_utc,
       datetime(json_extract(t.payload, '$.end'), 'unixepoch')          AS end_utc,
       json_extract(t.payload, '$.end') - json_extract(t.payload, '$.begin') AS seconds,
       json_extract(t.payload, '$.cause')                               AS cause
FROM event_texts t
WHERE t.key >= 'observation_gap/' AND t.key < 'observation_gap0'
ORDER BY t.seq;

#!/usr/bin/env bats
# The Shapley value itself: what the books credit by hindsight, beside what a program that knows nothing of them makes of sacct's records:
# hindsight_from_sacct where jobs start in parts, hindsight_whole_from_sacct where they start whole, on nodes of two kinds.
#
# sacct's times are the reference, its Eligible for releases. What shapleyd did not see wait (it was killed, or slurmctld was) it has to take from
# the record of the run, which has the same instant. When nodes were there sacct does not say (a slurmctld that begins again has none until they
# answer), and a node that is not there offers what still runs on it; so that is read from the ledger's facts, by plain SQL.

load lib/e2e

setup() {
  CLUSTER_DATABASE=yes
  BOOKS_ORGANIZATIONS=$DATABASE_ORGANIZATIONS
  CLUSTER_NODE_CPUS=(2 2 2 2)
  requeues_expected
}

# start_by_hindsight parts|whole: astro and bio have two nodes each; chem has none. A second partition has only n4, which is bio's.
start_by_hindsight() {
  jobs_start=$1
  cluster_prepare
  echo "PartitionName=gpu Nodes=n4 MaxTime=INFINITE DefaultTime=60 State=UP" >>"$SLURM_CONF"
  cluster_config "contribution: hindsight" "hindsight_jobs: $1" "charge: cpu" "period: none" "mode: priorities" "organizations:" \
    "  - {name: astro, accounts: [astro], nodes: [\"n[1-2]\"]}" \
    "  - {name: bio, accounts: [bio], nodes: [\"n[3-4]\"]}" \
    "  - {name: chem, accounts: [chem]}"
  cluster_start
  wait_until 15 plugin_connected
}

# divided: since when n4 is a kind of its own; the end of time where it is not.
divided() {
  ledger_sql "SELECT COALESCE(MIN(json_extract(payload, '\$.at')), $never) FROM events
              WHERE kind = 'hindsight_defined' AND json_extract(payload, '\$.kinds[0]') = 'n4'"
}
never=9007199254740991  # awk counts to it
# owned DIVIDED: "ORGANIZATION/KIND=PROCESSORS@INSTANT", one a line; n4 is of kind 1 from DIVIDED on. A node that is not there offers what still runs on it.
owned() {
  ledger_sql "SELECT json_extract(payload, '\$.at') AS at, 0 AS runs, json_extract(payload, '\$.ordinal') AS ordinal,
                     json_extract(payload, '\$.node'), json_extract(payload, '\$.processors') / 1000000
              FROM events WHERE kind = 'capacity_changed'
              UNION ALL SELECT s.begin, 1, 0, n.node, n.processors / 1000000
              FROM segments s JOIN segment_nodes n USING (kind, job, anchor, ordinal) WHERE s.kind = 'run' AND s.retracted IS NULL
              UNION ALL SELECT s.end, 1, 0, n.node, -n.processors / 1000000
              FROM segments s JOIN segment_nodes n USING (kind, job, anchor, ordinal) WHERE s.kind = 'run' AND s.retracted IS NULL AND s.end > 0
              ORDER BY at, runs, ordinal" |
    awk -v divided="$1" -v never=$never '
         function state(at, is_divided,  node, pool, sum) {
           for (pool in stated) sum[pool] = 0
           for (node in there) {
             pool = (node ~ /n[12]/ ? "astro" : "bio") "/" (node == "n4" && is_divided)
             sum[pool] += there[node] > busy[node] ? there[node] : busy[node]
           }
           for (pool in sum) if (sum[pool] != stated[pool]) { print pool "=" sum[pool] "@" at; stated[pool] = sum[pool] }
         }
         $1 != at && NR > 1 {
           state(at, at >= divided)
           if (at < divided && divided < $1) state(divided, 1)
         }
         { at = $1; if ($2) busy[$4] += $5; else there[$4] = $5 }
         END {
           state(at, at >= divided)
           if (at < divided && divided < never) state(divided, 1)
         }'
}
# witness AT [parts]: from the records that were exported last.
witness() {
  local pair options=()
  for pair in astro=astro bio=bio chem=chem $DATABASE_ORGANIZATIONS; do options+=(--account "$pair"); done
  if [ "${2:-$jobs_start}" = whole ]; then
    for pair in $(owned "$(divided)"); do options+=(--owns "$pair"); done
    "$BATS_TEST_DIRNAME/hindsight_whole_from_sacct" "${options[@]}" --partition gpu=1 --divided "$(divided)" --at "$1" "$CLUSTER_DIR/sacct.txt"
  else
    for pair in $(owned $never); do options+=(--owns "${pair/\/0=/=}"); done
    "$BATS_TEST_DIRNAME/hindsight_from_sacct" "${options[@]}" --at "$1" <(cut -d '|' -f 1-11 "$CLUSTER_DIR/sacct.txt")
  fi
}
yesterday=$(TZ=UTC date -d '-1 day' +%FT%T)  # sacct begins with today, and the test may be run at midnight
export_records() {
  local fields
  fields=$("$BATS_TEST_DIRNAME/hindsight_whole_from_sacct" --fields) &&
    SLURM_TIME_FORMAT=%s sacct -S "$yesterday" -a -X -D --parsable2 --noheader --format="$fields" >"$CLUSTER_DIR/sacct.txt"
}
# slurmdbd has heard of every end, and of every run that jobcomp has.
records_are_complete() {
  export_records && ! cut -d '|' -f 6 "$CLUSTER_DIR/sacct.txt" | grep -q Unknown &&
    recorded_runs all | cut -d ' ' -f 1 | sort >"$CLUSTER_DIR/jobs-recorded" &&
    awk -F '|' '$8 > 0 { print $1 }' "$CLUSTER_DIR/sacct.txt" | sort >"$CLUSTER_DIR/jobs-in-sacct" &&
    [ -z "$(comm -23 "$CLUSTER_DIR/jobs-recorded" "$CLUSTER_DIR/jobs-in-sacct")" ]
}

# "NAME PSI PHI" of each, by the books and by the witness, at an instant.
books_at() {
  shapleyctl status --json --ledger "$CLUSTER_LEDGER" --at "$(date -u -d "@$1" +%FT%T)" >"$CLUSTER_DIR/status-at.json" &&
    jq -r '.organizations[] | select(.name | IN("astro", "bio", "chem")) | "\(.name) psi \(.psi) phi \(.phi_hindsight)"' \
      "$CLUSTER_DIR/status-at.json" | sort
}
witness_at() { witness "$1" | jq -r 'to_entries[] | "\(.key) psi \(.value.psi) phi \(.value.phi)"'; }
standings_agree() {
  books_at "$1" >"$CLUSTER_DIR/by-books" && witness_at "$1" >"$CLUSTER_DIR/by-witness" && cmp "$CLUSTER_DIR/by-books" "$CLUSTER_DIR/by-witness"
}
say_standings() {
  say "by the books, and by the witness, at $1:"
  paste "$CLUSTER_DIR/by-books" "$CLUSTER_DIR/by-witness" >&2
  witness "$1" >&2
  cat "$CLUSTER_DIR/sacct.txt" >&2
}

# at_rank: who is served first at the instant of books_at; order_at AT: the same by the witness, the largest phi - psi first.
at_rank() {
  jq -r '[.organizations[] | select(.name | IN("astro", "bio", "chem"))] | sort_by(.rank) | map(.name) | join(" ")' "$CLUSTER_DIR/status-at.json"
}
order_at() { witness "$1" | jq -r 'to_entries | sort_by((.value.psi | tonumber) - (.value.phi | tonumber)) | map(.key) | join(" ")'; }
order_acts() {
  local order
  order=$(order_at "$(date +%s)")
  ranked_is "$order" && priorities_follow "$order"
}

# Everything that makes a request, or none: arrays, sub-accounts, a dependency, a begin time, a requeue with its second release, runs of no second.
a_mixed_load() {
  local first requeued
  requeued=$(submit astro -n2 "$requeued_command") && wait_until 60 booked "$requeued" && wait_until 10 seconds_passed 1 &&
    scontrol requeue "$requeued" &&
    plain_load 12 && submit stars --array=1-6 -n2 "sleep \$((SLURM_ARRAY_TASK_ID % 4))" && submit cells --array=0-4 "sleep 2" &&
    first=$(submit acids -n3 "sleep 1") && submit chem -n2 --dependency=afterany:"$first" "sleep 2" &&
    submit bio -n5 --begin=now+3 "sleep 1" && plain_load 6
}
# In the books they wait: a job and some tasks of an array that are cancelled before they begin.
withdrawn_load() {
  local whole thinned
  whole=$(submit bio -n2 "sleep 1") && thinned=$(submit chem --array=1-5 -n2 "sleep 1") &&
    wait_until 30 waits_in_books "$whole" && wait_until 30 waits_in_books "$thinned" && scancel "$whole" "${thinned}_[2-3]"
}
waits_in_books() { [ "$(ledger_sql "SELECT COUNT(*) > 0 FROM segments WHERE kind = 'wait' AND job = $1 AND end IS NULL")" = 1 ]; }

@test "books by hindsight are the Shapley value of sacct's records, to the unit, after each daemon was killed in the middle" {
  start_by_hindsight parts
  a_mixed_load
  shapleyd_kill9
  daemon_kill9 slurmdbd  # slurmctld keeps for it what it has to send
  recorded=$(recorded_runs all | wc -l)
  plain_load 6
  wait_until 30 enough_recorded $((recorded + 6))
  slurmdbd_start
  shapleyd_start
  wait_drained 90
  cancelled_load
  wait_drained 30

  load_across_a_kill
  amid=$(date +%s)  # three jobs fill the machine, others wait: durations that are not known yet
  daemon_kill9 slurmd.n4  # the job's own slurmstepd goes on
  ctld_kill9
  slurmd_start n4
  ctld_start
  wait_until 30 nodes_ready
  withdrawn_load
  tell kill
  plain_load 3
  wait_drained 90

  expect_books_correct 45
  wait_until 30 records_are_complete
  over=$(date +%s)
  for at in "$over" "$amid"; do
    wait_until 20 standings_agree "$at" || { say_standings "$at"; false; }
    paste -sd ';' "$CLUSTER_DIR/by-witness"
    # There is something to agree on: chem got much and would have got nothing alone, and no organization gave just what it got.
    witness "$at" | jq -e '.chem.alone == "0" and (.chem.psi | tonumber) > 0 and all(.psi != .phi and .phi != .alone)'
    jq -e '.contribution == "hindsight" and .conservation.holds and all(.organizations[]; .phi == .phi_hindsight)' "$CLUSTER_DIR/status-at.json"
    [ "$(at_rank)" = "$(order_at "$at")" ]
  done
  # The whole ledger, and its runs by sacct's records.
  sacct -S "$yesterday" -a -D -P -o JobIDRaw,Start,End,State,AllocCPUS,Suspended >"$CLUSTER_DIR/sacct-audit.txt"
  audit_agrees "$CLUSTER_DIR/sacct-audit.txt" || { cat "$CLUSTER_DIR/audit.txt"; false; }
  # A daemon that starts again has the same books.
  shapleyd_restart
  standings_agree "$over" || { say_standings "$over"; false; }

  # Ranks are by hindsight, and act. None of these jobs can start, so they are no requests.
  close_queue
  for name in astro bio chem; do submit "$name" "sleep 1"; done
  wait_until 30 order_acts || { order_at "$(date +%s)"; squeue -o '%a %Q'; shapleyctl status; false; }
}

kinds_are_defined() { [ "$(divided)" -lt "$(date +%s)" ]; }
# Narrow and wide jobs, arrays, and jobs that only n4 can run, of all three.
a_load_of_whole_jobs() {
  plain_load 9 && submit bio -n8 "sleep 1" && submit chem -p gpu -n2 "sleep 2" && submit astro --array=1-4 -n3 "sleep 1" &&
    submit astro -p gpu --array=1-3 "sleep \$((SLURM_ARRAY_TASK_ID % 3))" && submit chem -n7 "sleep 2" && submit bio -p gpu "sleep 1" && plain_load 6
}

@test "books by hindsight of whole jobs, on nodes of two kinds, are the Shapley value of sacct's records, to the unit" {
  start_by_hindsight whole
  # A job that waits for n4 makes it a kind of its own; it never was, because it does not start.
  full=$(submit astro -n8 "$(until_told fill)")
  wait_until 30 booked "$full"
  first=$(submit bio -p gpu "sleep 1")
  wait_until 30 kinds_are_defined
  scancel "$first"
  tell fill
  a_load_of_whole_jobs
  shapleyd_kill9
  submit chem -p gpu -n2 "sleep 1"
  shapleyd_start
  wait_drained 90

  full=$(submit bio -n8 "$(until_told end)")
  wait_until 60 booked "$full"
  a_load_of_whole_jobs
  wait_until 30 waits_in_books "$(submit chem -p gpu "sleep 1")"
  amid=$(date +%s)
  wait_until 10 seconds_passed 1
  tell end
  wait_drained 90

  expect_books_correct 45
  wait_until 30 records_are_complete
  over=$(date +%s)
  for at in "$over" "$amid"; do
    wait_until 20 standings_agree "$at" || { say_standings "$at"; false; }
    paste -sd ';' "$CLUSTER_DIR/by-witness"
    # Jobs in parts would have been worth something else.
    ! diff <(witness "$at") <(witness "$at" parts) >/dev/null
  done
  shapleyd_restart
  standings_agree "$over" || { say_standings "$over"; false; }
}

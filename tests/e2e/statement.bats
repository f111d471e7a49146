#!/usr/bin/env bats
# An interval of a cluster with slurmdbd: the statement's sums are sacct's, and sacct's export of it is audited without a finding.

load lib/e2e

setup() {
  CLUSTER_DATABASE=yes
  BOOKS_ORGANIZATIONS=$DATABASE_ORGANIZATIONS
}

utc() { date -u -d "@$1" +%Y-%m-%dT%H:%M:%S; }

# summed_by_sacct SINCE UNTIL: "ACCOUNT PROCESSOR_SECONDS" of what ran between, from the times and sizes in sacct's rows.
summed_by_sacct() {
  TZ=UTC sacct -a -D -X -P -n -o Account,Start,End,AllocCPUS -S "$(utc "$1")" -E "$(utc "$2")" |
    while IFS='|' read -r account start end cpus; do
      [ "$start" != Unknown ] && [ "$start" != None ] || continue
      [ "$end" != Unknown ] || end=2099-01-01T00:00:00
      echo "$account" "$(date -u -d "$start" +%s)" "$(date -u -d "$end" +%s)" "$cpus"
    done |
    awk -v since="$1" -v until="$2" '
      { begin = $2 > since ? $2 : since; end = $3 < until ? $3 : until; if (begin < end) sum[$1] += $4 * (end - begin) }
      END { for (account in sum) print account, sum[account] }' | sort
}

# summed_by_statement SINCE UNTIL: the same from the statement, which is of the daemon's own ledger.
summed_by_statement() {
  shapleyctl statement --since "$(utc "$1")" --until "$(utc "$2")" --csv |
    awk -F , '$4 == "user_own" || $4 == "user_borrowed" { sum[$7] += $10 } END { for (a in sum) if (sum[a]) print a, sum[a] }' | sort
}

requeued_in_sacct() { test "$(sacct -a -D -X -P -n -o State | grep -c '^REQUEUED$')" -eq "$1"; }
ended_in_sacct() { test "$(sacct -a -D -X -P -n -o End | grep -vc Unknown)" -eq "$1"; }
started_in_sacct() { test "$(sacct -a -D -X -P -n -o Start | grep -vc -e Unknown -e None)" -eq "$1"; }
export_of() { TZ=UTC sacct -a -D -P -o JobIDRaw,Start,End,State,AllocCPUS,Suspended -S "$(utc "$1")" -E "$(utc "$2")"; }
# audit_of LEDGER FILE SINCE UNTIL
audit_of() { TZ=UTC shapleyctl audit "$1" --against "$2" --since "$(utc "$3")" --until "$(utc "$4")"; }

@test "a statement's sums equal sacct's, and the audit of an interval has no finding except a defect within it" {
  start_with
  submit astro -n2 "$(until_told edge)" && submit cells -n1 "sleep 1"  # across the first edge; before it
  wait_until 20 started_in_sacct 2 && wait_until 20 ended_in_sacct 1
  wait_until 10 seconds_passed 1
  local since until
  since=$(date +%s)
  wait_until 10 seconds_passed 3
  tell edge
  submit stars -n3 "sleep 3" && submit bio -n4 "sleep 4" && submit acids "sleep 2" && submit chem -n2 "sleep 3"
  wait_until 40 ended_in_sacct 6
  submit chem -n2 "sleep 600" && submit pulsars -n1 "sleep 600"  # across the second edge
  wait_until 20 started_in_sacct 8
  wait_until 20 seconds_passed 11  # what is younger than 10 s at a ledger's end may be on its way
  until=$(date +%s)
  shapleyctl backup "$CLUSTER_DIR/copy.db"
  export_of "$since" "$until" >"$CLUSTER_DIR/running.txt"
  wait_until 10 seconds_passed 1
  submit astro -n1 "sleep 1"  # after it
  wait_until 20 ended_in_sacct 7
  scancel -u daemon
  wait_drained 20
  wait_until 20 ended_in_sacct 9
  export_of "$since" "$until" >"$CLUSTER_DIR/ended.txt"

  diff <(summed_by_sacct "$since" "$until") <(summed_by_statement "$since" "$until")
  [ "$(summed_by_statement "$since" "$until" | wc -l)" -eq 6 ]
  shapleyctl statement --since "$(utc "$since")" --until "$(utc "$until")" | grep '^Books:   exact'
  shapleyctl history --by hour --json | jq -e '.exact and (.rows | length) >= 5'

  # Records made while jobs ran and when they had ended, against the ledger and against a copy that is older than they are.
  local ledger records
  for ledger in "$CLUSTER_LEDGER" "$CLUSTER_DIR/copy.db"; do
    for records in running ended; do
      run audit_of "$ledger" "$CLUSTER_DIR/$records.txt" "$since" "$until"
      [ "$status" -eq 0 ] || { echo "$output"; false; }
      [[ $output == *"7 runs compared"* ]] || { echo "$output"; false; }
    done
  done
  # A run of the interval that the records lose, or have with another end, is found.
  sed '/|COMPLETED|4|/d' "$CLUSTER_DIR/ended.txt" >"$CLUSTER_DIR/without.txt"
  run audit_of "$CLUSTER_LEDGER" "$CLUSTER_DIR/without.txt" "$since" "$until"
  [ "$status" -eq 1 ]
  [[ $output == *"the ledger has a run that the records do not have"* ]]
  awk -F '|' -v OFS='|' '$5 == 4 && $1 !~ /\./ { $3 = "2099-01-01T00:00:00" } { print }' "$CLUSTER_DIR/ended.txt" >"$CLUSTER_DIR/changed.txt"
  run audit_of "$CLUSTER_LEDGER" "$CLUSTER_DIR/changed.txt" "$since" "$until"
  [ "$status" -eq 1 ]
}

@test "jobs are queued again after they had ended and after they were cancelled while they waited: the books agree with sacct" {
  start_with
  local ended cancelled
  ended=$(submit astro -n2 "sleep 1")
  wait_until 30 job_is "$ended" COMPLETED
  wait_until 10 seconds_passed 2  # so that the requeue is of another second than the end
  scontrol requeue "$ended"
  close_queue
  cancelled=$(submit bio -n1 "sleep 1")
  wait_until 10 job_is "$cancelled" PENDING
  scancel "$cancelled"
  wait_until 10 job_is "$cancelled" CANCELLED
  wait_until 10 seconds_passed 2
  scontrol requeue "$cancelled"
  wait_until 20 requeued_in_sacct 2
  scancel -u daemon
  open_queue
  wait_drained 20
  wait_until 20 seconds_passed 11  # what is younger than 10 s at a ledger's end may be on its way
  submit chem -n1 "sleep 1"
  wait_drained 30
  TZ=UTC sacct -a -D -P -o JobIDRaw,Start,End,State,AllocCPUS,Suspended >"$CLUSTER_DIR/requeued.txt"
  run shapleyctl audit "$CLUSTER_LEDGER" --against "$CLUSTER_DIR/requeued.txt"
  [ "$status" -eq 0 ] || { echo "$output"; cat "$CLUSTER_DIR/requeued.txt"; false; }
  [[ $output == *"1 run had ended when the job was queued again"* ]]
  [[ $output == *"1 record is of a job that was cancelled while it waited"* ]]
  [ "$(shapleyctl status --json | jq .daemon.lost_runs)" = 0 ]
}

#!/usr/bin/env bats
# Corrections of the books on a real cluster: an account's typo booked runs under guests, one that ended and one that goes on.

load lib/e2e

as_user() { setpriv --reuid "$JOB_UID" --regid "$JOB_GID" --clear-groups "$@"; }
# runs_are LINES: "JOB ORGANIZATION" of every run that counts, and whether it ended.
runs_are() {
  [ "$(ledger_sql "SELECT DISTINCT job, organization, end IS NULL FROM segments WHERE kind = 'run' AND retracted IS NULL ORDER BY job")" = "$1" ]
}
got_nothing() { [ "$(status_json | jq -r --arg name "$1" '.organizations[] | select(.name == $name) | .got_processor_seconds')" = 0 ]; }

@test "a run booked under guests by a typo, and one that still runs, are given to whose they are, and back" {
  start_with
  local began
  began=$(date -u +%Y-%m-%dT%H:%M:%S)
  ended=$(submit asrto -n2 "sleep 2")
  wait_drained 20
  running=$(submit asrto -n1 --nodelist=n3 "$(until_told typo)")
  wait_until 20 booked "$running"
  wait_until 20 runs_are "$ended guests 0"$'\n'"$running guests 1"

  correct() { shapleyctl adjust --account asrto --since "$began" --until 2099-01-01 --to astro --reason "a typo: asrto" "$@"; }
  run as_user env PATH="$PATH" shapleyctl adjust --job "$ended" --to astro --reason mine --yes
  [ "$status" -eq 4 ]
  [[ $output == *"only root and slurm_user may ask 'adjust'"* ]]
  run correct
  [ "$status" -eq 0 ] || { echo "$output"; false; }
  [[ $output == *"Moves:  2 runs,"*"Nothing is booked yet"* ]] || { echo "$output"; false; }
  runs_are "$ended guests 0"$'\n'"$running guests 1"
  run correct --yes
  [ "$status" -eq 0 ] || { echo "$output"; false; }
  [[ $output == "adjustment 1 is booked: "*"2 runs,"* ]] || { echo "$output"; false; }
  runs_are "$ended astro 0"$'\n'"$running astro 1"
  wait_until 20 got_nothing guests

  # slurmctld's records do not undo it: a later scan, a restart of either side, the end of the run.
  scontrol update jobid="$running" comment="looked at again"
  shapleyd_stop
  shapleyd_start
  wait_until 20 plugin_connected
  wait_until 30 all_looked_at
  runs_are "$ended astro 0"$'\n'"$running astro 1"
  tell typo
  wait_drained 20
  wait_until 20 runs_are "$ended astro 0"$'\n'"$running astro 0"

  shapleyctl statement --since "$began" | grep -A 3 "^Corrections of the books" | grep -F "a typo: asrto"
  wait_until 20 seconds_passed 11  # what is younger than 10 s at a ledger's end may be on its way
  run shapleyctl audit "$CLUSTER_LEDGER" --against "$CLUSTER_JOBCOMP"
  [ "$status" -eq 0 ] || { echo "$output"; false; }
  [[ $output == *"note: adjustment 1, "*"uid 0 (root)"*"a typo: asrto"* ]] || { echo "$output"; false; }
  [[ $output == *"whose a run is no record says"*"adjustment 1"* ]] || { echo "$output"; false; }

  shapleyctl adjust --reverse 1 --reason "asrto is somebody" --yes
  runs_are "$ended guests 0"$'\n'"$running guests 0"
  wait_until 20 got_nothing astro
  as_user env PATH="$PATH" shapleyctl adjust --list | grep "reversed by 2"
  run shapleyctl adjust --reverse 1 --reason "again" --yes
  [ "$status" -eq 4 ] || [ "$status" -eq 5 ]
  shapleyctl audit "$CLUSTER_LEDGER"
}

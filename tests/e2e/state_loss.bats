#!/usr/bin/env bats
# slurmctld comes back without the state that it saved. slurmdbd has what was going on as CANCELLED, with start and end.

load lib/e2e

setup() { CLUSTER_DATABASE=yes; }

loss() { status_json | jq -r ".daemon.state_losses$1"; }
loss_is() { test "$(loss "$1")" = "$2"; }
# For the audit, and for an import.
records() { sacct -a -D -P -S now-1hours -o JobIDRaw,Start,End,State,AllocCPUS,Suspended; }
export_runs() {
  sacct -a -D -P -S now-1hours -o JobID,JobIDRaw,User,UID,Group,GID,Account,Partition,QOS,State,Submit,Eligible,Start,End,Suspended,ReqCPUS,AllocCPUS,AllocTRES,NodeList
}
# All of its start: a step that comes first makes a record without an eligible time, which sacct -S does not list.
recorded() { records | grep -q "^$1|2"; }
# begin_young: a run that began a few seconds ago, in the books and in slurmdbd: what slurmctld has not sent there yet lies in StateSaveLocation, and would be
# lost with it. One that is known there too late is cancelled. What began within fifteen seconds before the last look is retracted.
begin_young() {
  young=$(submit astro -n2 -N1 "sleep 3000")
  wait_until 20 booked "$young" && wait_until 10 recorded "$young" || return 1
  young_begin=$(ledger_sql "SELECT begin FROM segments WHERE job = $young AND kind = 'run'")
  is_young || { scancel "$young" && wait_until 20 have_ended "$young" && wait_until 20 run_ended "$young" && false; }
}
is_young() { (($(date +%s) - young_begin <= 10)); }
run_ended() { [ "$(ledger_sql "SELECT COUNT(*) FROM segments WHERE kind = 'run' AND job = $1 AND end IS NULL")" -eq 0 ]; }
records_end() { test "$(records | awk -F '|' 'NR > 1 && $3 == "Unknown"' | wc -l)" -eq 0; }

@test "runs that were going on when slurmctld lost its state keep what was seen of them, and slurmdbd's word makes them whole" {
  start_with
  old=$(submit bio -n8 -N1 "sleep 3000")
  wait_until 20 booked "$old"
  wait_until 30 seconds_passed 20
  for _ in {1..10}; do ! begin_young || break; done
  is_young
  ctld_stop
  stopped=$(date +%s)
  find "$CLUSTER_DIR/state" -mindepth 1 -delete  # the plugin's spool, too
  ctld_start
  wait_until 30 plugin_connected
  wait_until 30 loss_is .count 1
  loss_is .closed 1
  loss_is .retracted 1
  # Eight processors from the start to the last look, at which the other run was there.
  begin=$(ledger_sql "SELECT begin FROM segments WHERE job = $old AND kind = 'run'")
  end=$(ledger_sql "SELECT end FROM segments WHERE job = $old AND kind = 'run' AND retracted IS NULL AND reason = 'vanished'")
  echo "begin $begin end $end young $young_begin stopped $stopped"
  ((young_begin <= end && end <= stopped))
  loss_is .closed_processor_seconds $((8 * (end - begin)))
  loss_is .last.seen "$end"
  [ "$(ledger_sql "SELECT COUNT(*) FROM segments WHERE job = $young AND kind = 'run' AND retracted IS NULL")" -eq 0 ]
  [ "$(ledger_sql "SELECT closed, retracted FROM state_losses")" = "1 1" ]
  run shapleyctl status
  echo "$output"
  [[ $output == *"State:   slurmctld lost runs at "*"1 run ("*" processor-seconds) counted until the last look, 1 run ("* ]]
  run shapleyctl health
  echo "$output"
  [ "$status" -eq 1 ]
  [[ $output == *"slurmctld lost runs "*"1 run ("*" processor-seconds) counted"* ]]

  # Slurm's accounting has both. Of the one that is retracted the audit says so; the other one's end is a note.
  wait_until 30 nodes_ready
  wait_until 30 records_end
  # What began within ten seconds before the ledger's last event would be left out.
  wait_until 30 seconds_passed 12
  echo "# read again" >>"$CLUSTER_DIR/shapleyd.yaml"
  shapleyd_reload
  records >"$CLUSTER_DIR/records.txt"
  run shapleyctl audit "$CLUSTER_LEDGER" --against "$CLUSTER_DIR/records.txt"
  echo "$output"
  [ "$status" -eq 1 ]
  [[ $output == *"job $young "*"it was retracted, because slurmctld forgot it; shapleyctl import --into takes it"* ]]
  [[ $output != *"job $old, "* ]]
  export_runs >"$CLUSTER_DIR/export.txt"
  shapleyd_stop
  run shapleyctl import --sacct "$CLUSTER_DIR/export.txt" --config "$CLUSTER_DIR/shapleyd.yaml" --into "$CLUSTER_LEDGER" --reason "lost state"
  echo "$output"
  [ "$status" -eq 0 ]
  [[ $output == *"1 run had been retracted, because slurmctld forgot it: it counts again"* ]]
  run shapleyctl audit "$CLUSTER_LEDGER" --against "$CLUSTER_DIR/records.txt"
  echo "$output"
  [ "$status" -eq 0 ]
  # Where the recorded end is a later one, the run was made to end there.
  recorded=$(TZ=UTC sacct -X -n -P -j "$old" -o End)
  [ "$(ledger_sql "SELECT strftime('%Y-%m-%dT%H:%M:%S', MAX(end), 'unixepoch') FROM segments WHERE job = $old AND kind = 'run' AND retracted IS NULL")" = "$recorded" ]
  shapleyd_start
  wait_until 30 plugin_connected
  # The numbers begin again: another job of the same number is a run of its own.
  again=$(submit chem -n1 "sleep 1")
  wait_drained 60
  wait_until 20 nothing_open "$again"
  [ "$(ledger_sql "SELECT COUNT(DISTINCT anchor) FROM segments WHERE job = $again AND kind = 'run' AND retracted IS NULL")" -ge 1 ]
  shapleyctl audit "$CLUSTER_LEDGER"
}

#!/usr/bin/env bats
# A cluster of a consortium whose ledger is begun again, or restored from a copy: the other one says so, counts nothing new of it, and counts it again once
# an administrator has accepted the other line.

bats_require_minimum_version 1.5.0
load lib/e2e
load lib/consortium

teardown() { clusters_end; }

others() { shapleyctl status | grep '^Others:'; }
others_say() { others | grep -q "$1"; }
replaced_events() { ledger_sql "SELECT count(*) FROM events WHERE kind = 'ledger_replaced'"; }
south_counts() { others | grep -qv 'its ledger'; }

# south_stops, south_starts: its slurmctld and shapleyd. What the plugin keeps of the lost time is lost, too.
south_stops() {
  use_cluster south
  ctld_stop
  rm -f "$CLUSTER_DIR"/state/shapley.*
  shapleyd_stop
}
south_starts() {
  use_cluster south
  shapleyd_start
  ctld_start
  wait_until 30 plugin_connected
}

# The north says it in every place, before and after its own restart, and its check of the file is no fault.
north_refuses() {
  use_cluster north
  wait_until 30 others_say "$1"
  run shapleyctl health
  [ "$status" -eq 1 ]
  # Once the last statement is too old, that is said with the same reason.
  [[ $output == *"the cluster south is "*": its ledger"* ]]
  run shapleyctl check-config "$CLUSTER_DIR/shapleyd.yaml"
  [ "$status" -eq 0 ]
  [[ $output == *"shapleyd refuses it: its ledger"* ]]
  wait_until 20 test "$(replaced_events)" -ge 1
  run -0 shapleyctl check-config --ledger "$CLUSTER_LEDGER" "$CLUSTER_DIR/shapleyd.yaml"
  [[ $output == *"shapleyd refuses it: its ledger"* ]]
}

@test "a ledger that is begun again, and one that is restored, are refused by name until they are accepted; the audits know both lines" {
  local before owed first
  CONSORTIUM_STALE_AFTER=10s
  clusters_prepare north south
  configure_consortium north south "$(tcp_of south)"
  configure_consortium south north "$(tcp_of north)"
  clusters_start north south
  lend south ada 3
  use_cluster south
  wait_until 20 owed_as_recorded bob ada
  owed=$(owed_here ada)
  [ "$owed" -lt 0 ]
  on north wait_until 60 elsewhere_is south ada "$owed"

  # The south loses its ledger and begins a new one.
  south_stops
  mkdir "$CLUSTER_DIR/lost"
  mv "$CLUSTER_DIR"/ledger.db* "$CLUSTER_DIR/lost/"
  south_starts
  north_refuses "its ledger was begun again"
  [ "$(owed_elsewhere south ada)" -lt 0 ]
  run -5 shapleyctl standing --accept east --reason "disk lost"
  run -2 shapleyctl standing --accept south
  run -0 shapleyctl standing --accept south --reason "disk lost"
  echo "$output"
  [[ $output == *"Nothing is recorded yet"* ]]
  [ "$(replaced_events)" -eq 1 ]
  run -0 shapleyctl standing --accept south --reason "disk lost" --yes
  echo "$output"
  wait_until 20 south_counts
  # The new ledger has what slurmctld still knew of ended jobs.
  wait_until 60 elsewhere_is south ada "$(on south owed_here ada)"
  [ "$(replaced_events)" -eq 2 ]
  lend south ada 2
  on north wait_until 60 elsewhere_is south ada "$(on south owed_here ada)"

  # It goes on from a copy, and has more events than before when the north restarts.
  use_cluster south
  shapleyctl backup "$CLUSTER_DIR/copy.db"
  lend south ada 2
  lend south ada 2
  on north wait_until 60 elsewhere_is south ada "$(on south owed_here ada)"
  use_cluster south
  shapleyctl backup "$CLUSTER_DIR/newest.db"
  before=$(ledger_sql "SELECT max(seq) FROM events")
  south_stops
  shapleyctl restore --ledger "$CLUSTER_LEDGER" "$CLUSTER_DIR/copy.db"
  shapleyd_start
  north_refuses "its ledger went back from event $before to"
  on south ctld_start
  on south wait_until 30 plugin_connected
  for first in 1 2 3 4 5 6; do lend south bob 1; done
  [ "$(on south ledger_sql "SELECT max(seq) FROM events")" -gt "$before" ]
  use_cluster north
  shapleyd_stop
  shapleyd_start
  wait_until 30 plugin_connected
  north_refuses "its ledger went back from event $before to"
  run -0 shapleyctl standing --accept south --reason "disk lost again" --yes
  wait_until 20 south_counts
  on north wait_until 60 elsewhere_is south ada "$(on south owed_here ada)"
  lend south ada 2
  on north wait_until 60 elsewhere_is south ada "$(on south owed_here ada)"

  # All lines are known to the audits.
  use_cluster north
  shapleyctl audit "$CLUSTER_LEDGER" --consortium "${_CLUSTER_DIRS[south]}/ledger.db" "${_CLUSTER_DIRS[south]}/newest.db" \
    "${_CLUSTER_DIRS[south]}/lost/ledger.db" --consortium-key "${_CLUSTER_DIRS[south]}/head.key.pub"
  run shapleyctl audit "$CLUSTER_LEDGER" --consortium "${_CLUSTER_DIRS[south]}/ledger.db"
  echo "$output"
  [ "$status" -eq 6 ]
  [[ $output == *"its ledger was replaced"* ]]

  # So does the board, and what the north decides and hears after the south has gone away is on it.
  on south shapleyd_stop
  use_cluster north
  shapleyctl adjust --amount 5h --from ada --to bob --at "$(date -u +%FT%TZ)" --reason "paid" --yes
  shapleyctl statement --board --consortium "$CLUSTER_LEDGER" "${_CLUSTER_DIRS[south]}/ledger.db" --json >"$CLUSTER_DIR/board.json"
  jq -e '[.board.decisions[] | select(.kind == "ledger").reason] == ["disk lost", "disk lost again"]' "$CLUSTER_DIR/board.json"
  jq -e '.board.decisions[-1] | .kind == "settle" and .reason == "paid" and .cluster == "north"' "$CLUSTER_DIR/board.json"
  jq -e '.board.heard[] | select(.statements == "south") | .refused_s > 0 and .in_consortium_s > 0' "$CLUSTER_DIR/board.json"
}

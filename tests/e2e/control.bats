#!/usr/bin/env bats
# What an administrator does to running daemons: reconfigure, reload, observe.

load lib/e2e

owned() { status_json | jq -r --arg name "$1" '.organizations[] | select(.name == $name) | .owned'; }
owned_is() { test "$(owned "$1")" = "$2"; }

@test "scontrol reconfigure and SIGHUP in the middle of a load" {
  start_with
  plain_load 12
  reconfigure
  plain_load 6
  reconfigure daemon_signal slurmctld HUP
  plain_load 6
  wait_drained 60
  wait_until 10 plugin_connected
  expect_books_correct 15
}

@test "SIGHUP with changed ownership: dated, and the running job's segment is split there" {
  start_with
  wait_until 10 owned_is astro 32
  job=$(submit bio --nodelist=n2 -n16 "$(until_told split)")
  wait_until 10 booked "$job"
  wait_until 10 seconds_passed 1
  sed -i 's/nodes: .*1-2.*/nodes: [n1]/; s/nodes: \[n4\]/nodes: [n4, n2]/' "$CLUSTER_DIR/shapleyd.yaml"
  shapleyd_reload
  wait_until 10 owned_is astro 16
  wait_until 10 owned_is chem 32
  wait_until 10 seconds_passed 1
  tell split
  wait_drained 20
  expect_books_correct 1
  # bio's sixteen processors of n2 were astro's until the change, chem's after it; together the whole run.
  run ledger_sql "SELECT owner, SUM(processors * (end - begin)) > 0 FROM run_shares WHERE job = $job GROUP BY owner ORDER BY owner"
  [ "$output" = $'astro 1\nchem 1' ]
  run ledger_sql "SELECT SUM(processors * (end - begin)) = 16 * (MAX(end) - MIN(begin)) FROM run_shares WHERE job = $job"
  [ "$output" = 1 ]
}

@test "a reload that changes whose jobs are whose is no error in slurmctld's log" {
  start_with
  errors() { grep -c 'error: .*shapley' "$CLUSTER_DIR/log/slurmctld.log" || true; }
  before=$(errors)
  sed -i 's/accounts: \[bio\]/accounts: [bio, zoo]/' "$CLUSTER_DIR/shapleyd.yaml"
  shapleyd_reload
  wait_until 20 grep -q 'shapleyd: .*connected to shapleyd .* again' "$CLUSTER_DIR/log/slurmctld.log"
  grep -q 'closed by the daemon; connecting' "$CLUSTER_DIR/log/slurmctld.log"
  [ "$(errors)" = "$before" ]
}

@test "SIGHUP with a faulty file: refused, named, and the running configuration stays" {
  start_with
  wait_until 10 owned_is astro 32
  printf 'organisations: []\n' >>"$CLUSTER_DIR/shapleyd.yaml"
  shapleyd_reload
  wait_until 10 grep -q organisations "$CLUSTER_DIR/log/shapleyd.out"
  owned_is astro 32
  wait_until 5 plugin_connected
  run shapleyd --check-config --config "$CLUSTER_DIR/shapleyd.yaml"
  [ "$status" -ne 0 ]
  [[ $output == *organisations* ]]
}

@test "mode observe keeps the books and leaves every priority alone" {
  start_with "mode: observe"
  plain_load 12
  close_queue
  submit astro true
  submit bio true
  wait_until 30 all_looked_at
  [ "$(squeue -h -t PENDING -o %Q | sort -u)" = 1 ]  # what multifactor without weights gives
  open_queue
  wait_drained 30
  expect_books_correct 8
}

@test "unknown plugin options are refused by name" {
  cluster_prepare
  three_organizations
  sed -i 's/^PriorityParameters=.*/&,colour=blue/' "$SLURM_CONF"
  run cluster_start
  [ "$status" -ne 0 ]
  wait_until 5 grep -q 'priority/shapley: .*colour' "$CLUSTER_DIR"/log/slurmctld.*
}

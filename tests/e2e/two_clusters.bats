#!/usr/bin/env bats
# A trial slurmctld from a copy of slurm.conf finds the socket of the real one.

load lib/e2e
load lib/trial

teardown() {
  daemon_stop trial
  end_cluster
}

@test "a trial slurmctld of the same ClusterName is refused by its StateSaveLocation, and a restart comes in at once" {
  start_with
  wait_until 10 plugin_connected
  plain_load 4
  trial_is_refused shapleytest
  cluster_told_is .refused.state_location "$CLUSTER_DIR/trial-state"
  # The trial tries again every few seconds, also while ours is away.
  ctld_restart
  wait_until 30 plugin_connected
  plain_load 4
  wait_drained 60
  [ "$(grep -c 'this is a second one, whose StateSaveLocation is' "$CLUSTER_DIR/log/shapleyd.out")" -eq 1 ]
  [ "$(grep -c "cluster shapleytest, scans" "$CLUSTER_DIR/log/shapleyd.out")" -eq 2 ]
  run shapleyctl status
  echo "$output"
  [[ $output == *"Cluster: REFUSED: the plugin of a second slurmctld of this cluster, whose StateSaveLocation is $CLUSTER_DIR/trial-state"* ]]
  run shapleyctl health
  echo "$output"
  [[ $output == *"the plugin of a second slurmctld of this cluster, whose StateSaveLocation is $CLUSTER_DIR/trial-state, is refused"* ]]
  # Nor does it come first where shapleyd restarts.
  shapleyd_kill9
  shapleyd_start
  wait_until 30 plugin_connected
  wait_until 30 refused_often 1
  cluster_told_is .refused.state_location "$CLUSTER_DIR/trial-state"
  plugin_connected
  daemon_stop trial
  expect_books_correct 8
}

@test "a trial slurmctld on the same socket is refused by its ClusterName, and the books are as without it" {
  start_with
  wait_until 10 cluster_told_is .name shapleytest
  plain_load 4
  trial_is_refused trial
  cluster_told_is .refused.cluster trial
  plain_load 4
  wait_drained 60
  [ "$(grep -c "not of 'trial'" "$CLUSTER_DIR/log/shapleyd.out")" -eq 1 ]
  [ "$(grep -c 'replaced by a new feeder' "$CLUSTER_DIR/log/shapleyd.out")" -eq 0 ]
  run shapleyctl status
  echo "$output"
  [[ $output == *"Cluster: REFUSED: the plugin of cluster trial, "*"this ledger is of cluster shapleytest"* ]]
  run shapleyctl health
  echo "$output"
  [ "$status" -eq 1 ]
  [[ $output == *"the plugin of another cluster, trial, is refused"* ]]
  expect_books_correct 8
  daemon_stop trial

  # The cluster is really renamed.
  ctld_stop
  sed -i 's/^ClusterName=.*/ClusterName=renamed/' "$SLURM_CONF"
  rm -f "$CLUSTER_DIR/state/clustername"
  ctld_start
  wait_until 30 cluster_told_is .refused.cluster renamed
  run shapleyctl rename-cluster renamed --reason "a new machine room"
  echo "$output"
  [ "$status" -eq 0 ]
  wait_until 30 plugin_connected
  plain_load 2
  wait_drained 60
  expect_books_correct 10
  [ "$(ledger_sql "SELECT cluster FROM clusters" | tr '\n' ' ')" = "shapleytest renamed " ]
}

#!/usr/bin/env bats
# Daemons die in the middle of a load: the books are as correct afterwards, and Slurm never waits.

load lib/e2e

# half_a_load RECORDED: enough that jobs start, run and end before, during and after what happens next. So many had ended before.
half_a_load() {
  plain_load 24
  array_load
  wait_until 20 jobs_recorded $(($1 + 4))
}

finish_and_compare() {
  wait_drained 90
  expect_books_correct "$1"
}
@test "shapleyd killed in the middle of a load" {
  start_with
  half_a_load 0
  shapleyd_kill9
  recorded=$(lines_of "$CLUSTER_JOBCOMP")
  plain_load 12
  wait_until 20 jobs_recorded $((recorded + 12))
  shapleyd_start
  plain_load 6
  finish_and_compare 28
}

@test "slurmctld killed in the middle of a load" {
  start_with
  load_across_a_kill
  ctld_kill9
  ctld_start
  wait_until 30 nodes_ready
  tell kill
  plain_load 12
  finish_and_compare 15
}

@test "both killed in the middle of a load, slurmctld back first" {
  start_with
  load_across_a_kill
  shapleyd_kill9
  save_after plain_load 6
  ctld_kill9
  ctld_start
  wait_until 30 nodes_ready
  plain_load 6
  tell kill
  shapleyd_start
  wait_until 15 plugin_connected
  finish_and_compare 15
}

@test "both stopped and started in order, twice" {
  start_with
  for _ in 1 2; do
    half_a_load "$(lines_of "$CLUSTER_JOBCOMP")"
    shapleyd_stop
    between_launches ctld_stop
    shapleyd_start
    ctld_start
    wait_until 30 nodes_ready
    open_queue
  done
  finish_and_compare 40
}

jobs_recorded() { test "$(lines_of "$CLUSTER_JOBCOMP")" -ge "$1"; }

@test "shapleyd frozen by SIGSTOP: Slurm goes on, none of its threads waits, and it recovers" {
  # The connection is the Unix socket that slurmctld has with shapleyd and has not without.
  cluster_prepare
  three_organizations
  mv "$CLUSTER_DIR/shapleyd.yaml" "$CLUSTER_DIR/later.yaml"
  cluster_start
  pid=$(daemon_pid slurmctld)
  unix_sockets "$pid" >"$CLUSTER_DIR/sockets-before"
  mv "$CLUSTER_DIR/later.yaml" "$CLUSTER_DIR/shapleyd.yaml"
  shapleyd_start
  wait_until 20 plugin_connected
  wait_until 20 one_new_socket
  connection=$(cat "$CLUSTER_DIR/sockets-new")
  wait_until 10 feeder_listens  # the look at the threads does see a thread that waits

  plain_load 6
  shapleyd_freeze
  recorded=$(lines_of "$CLUSTER_JOBCOMP")
  for round in 1 2 3 4 5 6; do
    plain_load 6
    scontrol show jobs >/dev/null
    sprio >/dev/null
    # Threads other than the client's own feeder must never be in a system call on the connection.
    threads_on_socket "$pid" "$connection" | sort -u >>"$CLUSTER_DIR/threads-seen"
  done
  reconfigure
  wait_until 40 jobs_recorded $((recorded + 36))
  threads_on_socket "$pid" "$connection" >>"$CLUSTER_DIR/threads-seen" || true  # by now the feeder may have given it up
  run sort -u "$CLUSTER_DIR/threads-seen"
  [ "$output" = "" ] || [ "$output" = "shapley-feeder" ]

  shapleyd_thaw
  wait_until 30 plugin_connected
  finish_and_compare 20
}
# An RPC has one of its own with munged for a moment.
one_new_socket() {
  unix_sockets "$pid" | grep -vxFf "$CLUSTER_DIR/sockets-before" >"$CLUSTER_DIR/sockets-new"
  [ "$(wc -l <"$CLUSTER_DIR/sockets-new")" -eq 1 ]
}
feeder_listens() { threads_on_socket "$pid" "$connection" | grep -qx shapley-feeder; }

@test "a second shapleyd on the same ledger is refused and names the first" {
  start_with
  sed "s#^socket:.*#socket: $CLUSTER_DIR/run/second.sock#" "$CLUSTER_DIR/shapleyd.yaml" >"$CLUSTER_DIR/second.yaml"
  run timeout 60 shapleyd --config "$CLUSTER_DIR/second.yaml"
  [ "$status" -ne 0 ] && [ "$status" -ne 124 ]
  [[ $output == *"$(daemon_pid shapleyd)"* ]]
  wait_until 5 plugin_connected
}

@test "without shapleyd jobs start as with plain multifactor, and it is said once" {
  cluster_prepare
  cluster_start
  plain_load 12
  wait_drained 40
  wait_until 5 jobs_recorded 12
  wait_until 10 grep -q 'priority/shapley: shapleyd: .*not usable' "$CLUSTER_DIR/log/slurmctld.log"
  [ "$(grep -c 'priority/shapley: shapleyd: .*not usable' "$CLUSTER_DIR/log/slurmctld.log")" -eq 1 ]
  three_organizations
  shapleyd_start
  wait_until 20 plugin_connected
  finish_and_compare 8
}

# health_says TEXT STATUS
health_says() {
  run shapleyctl health
  [[ $output == *"$1"* ]] && [ "$status" -eq "$2" ]
}

@test "a slurmctld that hangs is distinguished from an idle cluster" {
  start_with
  wait_until 10 health_says "plugin connected" 0
  daemon_signal slurmctld STOP
  wait_until 60 health_says "the plugin is connected and silent for" 1
  shapleyctl status | grep -q '^Plugin:  connected, .*, SILENT: last heard '
  # Nothing happens in the cluster, before and after: what is heard is the sign of life.
  daemon_signal slurmctld CONT
  wait_until 60 health_says "plugin connected" 0
}

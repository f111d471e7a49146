#!/usr/bin/env bats
# Whatever sits at the other end of the socket, slurmctld goes on as if it were not there: no thread but the client's own is ever in a
# system call on the connection, jobs start and end, and descriptors and threads are what they were.
# SHAPLEY_LONG=1: an hour of reconnects, 1,000 reconfigures and 100 restarts instead of a taste of each.

load lib/e2e
source "$BATS_TEST_DIRNAME/lib/resources.bash"

# without_daemon: a running cluster whose plugin finds no daemon; sockets-before lists slurmctld's own Unix sockets.
without_daemon() {
  cluster_prepare
  cluster_start
  pid=$(daemon_pid slurmctld)
  unix_sockets "$pid" >"$CLUSTER_DIR/sockets-before"
  touch "$CLUSTER_DIR/threads-seen"
}
connected() { test -n "$(daemon_sockets)"; }

# watch_threads: adds to threads-seen the names of threads that are in a system call on a connection to the daemon. slurmctld's other
# Unix sockets are to munge; those have a path at their other end, but not ours.
watch_threads() {
  local socket
  for socket in $(daemon_sockets); do
    threads_on_socket "$pid" "$socket" >>"$CLUSTER_DIR/threads-seen" || true  # it may be gone by now
  done
}

only_the_feeder() {
  run sort -u "$CLUSTER_DIR/threads-seen"
  [ "$output" = "" ] || [ "$output" = "shapley-feeder" ]
}

# The connections of slurmctld whose other end is bound to the daemon's path, by inode.
daemon_sockets() {
  ss -xnp 2>/dev/null | awk -v path="$SHAPLEY_SOCKET" -v pid="pid=$pid," '
    $5 == path { other[$8] = 1 } index($0, pid) { mine[$6] = 1 } END { for (i in other) if (i in mine) print i }'
}

# some_work: what users do, with a look at the threads after each step.
some_work() {
  local step
  for step in 1 2 3; do
    plain_load 3
    watch_threads
    scontrol show jobs >/dev/null
    sprio >/dev/null
    watch_threads
  done
  reconfigure
  wait_drained 60
}

@test "daemons that answer garbage, half a frame, another version, a refusal, nothing" {
  without_daemon
  before=$(quiet_resources "$pid")
  for mood in garbage half_frame other_version refusing early_close wrong_message huge_frame mute stuck; do
    daemon_start restless restless_daemon "$SHAPLEY_SOCKET" "$mood"
    wait_until 20 test -S "$SHAPLEY_SOCKET"
    # The others hang up too soon to be found connected at a certain moment.
    case $mood in mute | stuck) wait_until 20 connected ;; esac
    some_work
    daemon_kill9 restless
    rm -f "$SHAPLEY_SOCKET"  # the next one's is waited for
  done
  only_the_feeder
  [ "$(daemon_pid slurmctld)" = "$pid" ]
  wait_until 20 no_more_than "$before" "$pid"
}

@test "a slow shapleyd: running a tenth of the time" {
  without_daemon
  three_organizations
  shapleyd_start
  wait_until 20 plugin_connected
  : >"$CLUSTER_DIR/threads-seen"
  recorded=$(wc -l <"$CLUSTER_JOBCOMP" 2>/dev/null || echo 0)
  for _ in 1 2 3 4 5 6; do
    shapleyd_freeze
    plain_load 3
    watch_threads
    squeue >/dev/null
    watch_threads
    shapleyd_thaw
    sleep 0.1
  done
  shapleyd_thaw
  wait_drained 60
  only_the_feeder
  expect_books_correct $((recorded + 12))
}

@test "reconnects" {
  if [ "${SHAPLEY_LONG:-}" = 1 ]; then "$BATS_TEST_DIRNAME/reconnects" 3600; else "$BATS_TEST_DIRNAME/reconnects" 20; fi
}

@test "reconfigures and restarts" {
  if [ "${SHAPLEY_LONG:-}" = 1 ]; then "$BATS_TEST_DIRNAME/restarts" 1000 100; else "$BATS_TEST_DIRNAME/restarts" 20 3; fi
}

#!/usr/bin/env bats
# This version and another one on a real cluster. SHAPLEY_THIS_BUILD and SHAPLEY_OTHER_BUILD are their build folders (run).

bats_require_minimum_version 1.5.0
: "${SHAPLEY_THIS_BUILD:?}" "${SHAPLEY_OTHER_BUILD:?}"
# What the cluster runs: links, changed in the middle of a test as an upgrade changes files.
SHAPLEY_BUILD=$BATS_TEST_TMPDIR/installed
load ../e2e/lib/e2e
# What both know of the rule of ranks.
CLUSTER_RANKING="guarantee: 0"

# install_daemon this|other, install_plugin this|other: as a package would; what runs goes on until it is restarted.
install_daemon() {
  mkdir -p "$SHAPLEY_BUILD/bin"
  ln -sfn "$(build_of "$1")"/bin/{shapleyd,shapleyctl} "$SHAPLEY_BUILD/bin/"
}
install_plugin() {
  mkdir -p "$SHAPLEY_BUILD/lib"
  ln -sfn "$(build_of "$1")/lib/slurm" "$SHAPLEY_BUILD/lib/slurm"
}
build_of() { if [ "$1" = this ]; then echo "$SHAPLEY_THIS_BUILD"; else echo "$SHAPLEY_OTHER_BUILD"; fi; }

upgrade_daemon() {
  install_daemon "$1"
  shapleyd_restart
  wait_until 15 plugin_connected
}
upgrade_plugin() {
  install_plugin "$1"
  between_launches ctld_restart
  open_queue
  wait_until 30 nodes_ready
  wait_until 15 plugin_connected
}
# some_load: jobs that start, run and end, and whose starts follow ranks.
some_load() {
  plain_load 12
  array_load
  wait_drained 90
}

@test "shapleyd first, then the plugin: an upgrade" {
  install_daemon other
  install_plugin other
  start_with
  some_load
  upgrade_daemon this
  some_load
  upgrade_plugin this
  some_load
  expect_books_correct 40
}

@test "the plugin first, then shapleyd" {
  install_daemon other
  install_plugin other
  start_with
  some_load
  upgrade_plugin this
  some_load
  upgrade_daemon this
  some_load
  expect_books_correct 40
}

@test "the plugin alone goes back" {
  install_daemon this
  install_plugin this
  start_with
  some_load
  upgrade_plugin other
  some_load
  expect_books_correct 25
}

# An older shapleyd may refuse the ledger of a newer one, by its schema's version or by an event that it does not know. Jobs start all the same, and
# nothing is lost when the newer one is back.
@test "shapleyd goes back" {
  install_daemon this
  install_plugin this
  start_with
  some_load
  install_daemon other
  shapleyd_stop
  if ! shapleyd_restart; then
    grep -E 'ledger.*(version|schema|unknown)' "$CLUSTER_DIR/log/shapleyd.out"
    plain_load 12
    wait_drained 90
    upgrade_daemon this
  fi
  some_load
  upgrade_daemon this
  expect_books_correct 40
}

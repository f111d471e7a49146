# What every end-to-end test shares: a cluster that is stopped and removed whatever happens; a failing test keeps its logs.
# shellcheck source=cluster.bash
source "$(dirname "${BASH_SOURCE[0]}")/cluster.bash"
source "$(dirname "${BASH_SOURCE[0]}")/jobs.bash"
source "$(dirname "${BASH_SOURCE[0]}")/load.bash"
source "$(dirname "${BASH_SOURCE[0]}")/books.bash"
source "$(dirname "${BASH_SOURCE[0]}")/threads.bash"
source "$(dirname "${BASH_SOURCE[0]}")/gap.bash"

teardown() { end_cluster; }

# On Ctrl-C bats only takes a note and waits for the interrupted command to fail. One that had just ended does not: the test went on as if nothing
# had happened.
[ -z "${BATS_TEST_NAME:-}" ] || trap 'bats_interrupt_trap; exit 130' INT

end_cluster() {
  local stopped=0
  cluster_stop || stopped=1
  if [ "${BATS_TEST_COMPLETED:-}" = 1 ] && [ "$stopped" -eq 0 ]; then
    cluster_discard
    return
  fi
  [ -z "${CLUSTER_DIR:-}" ] || [ -e "$CLUSTER_DIR/log/said" ] || echo "logs, ledger and Slurm's job records are kept in $CLUSTER_DIR"
  tail -n 25 "$CLUSTER_DIR/log/shapleyd.out" "$CLUSTER_DIR/log/slurmctld.log" 2>/dev/null
  return "$stopped"
}

# start_with [CONFIGURATION_LINE...]: the usual three organizations, a running cluster, the plugin connected.
start_with() {
  cluster_prepare
  three_organizations "$@"
  cluster_start
  wait_until 15 plugin_connected
}

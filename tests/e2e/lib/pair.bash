# Two clusters side by side: `shapley` with our plugin and `plain` with stock priority/multifactor, the same in everything else, so
# that what one does can be compared with what the other does. To be sourced after e2e.bash, whose teardown it replaces.
#
# One of them is current at a time: every function of the other libraries means that one.

PAIR_VARIABLES=(CLUSTER_DIR CLUSTER_PORT CLUSTER_CLAIM CLUSTER_LEDGER CLUSTER_JOBCOMP CLUSTER_PRIORITY SLURM_CONF SHAPLEY_SOCKET SHAPLEY_TEST_CLUSTER)
PAIR_CURRENT=""

# use NAME: makes that cluster the current one; a new name begins without a directory.
use() {
  [ "$1" != "$PAIR_CURRENT" ] || return 0
  local variable stored
  for variable in "${PAIR_VARIABLES[@]}"; do
    [ -z "$PAIR_CURRENT" ] || printf -v "pair_${PAIR_CURRENT}_$variable" %s "${!variable:-}"
    stored=pair_$1_$variable
    printf -v "$variable" %s "${!stored:-}"
  done
  PAIR_CURRENT=$1
}

in_shapley() { use shapley && "$@"; }
in_plain() { use plain && "$@"; }
in_both() { in_plain "$@" && in_shapley "$@"; }

# pair_prepare [CONFIGURATION_LINE...]: both directories; hooks may change slurm.conf before pair_run.
pair_prepare() {
  PAIR_DIR=$BATS_TEST_TMPDIR
  use plain && CLUSTER_PRIORITY=priority/multifactor && cluster_prepare || return 1
  use shapley && CLUSTER_PRIORITY=priority/shapley && cluster_prepare && three_organizations "$@"
}

pair_run() { in_both cluster_start && wait_until 15 plugin_connected; }
pair_start() { pair_prepare "$@" && pair_run; }

teardown() {
  local name failed=0
  if [ -z "$PAIR_CURRENT" ]; then end_cluster; return; fi
  for name in plain shapley; do
    use "$name"
    end_cluster || failed=1
  done
  return "$failed"
}

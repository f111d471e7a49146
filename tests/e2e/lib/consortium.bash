# Several private clusters of one consortium on this machine, each with a slurmctld, a slurmd, a shapleyd and a munged of its own; their munge keys
# are one. To be sourced after cluster.bash, jobs.bash and books.bash.
#
# Arrays of the shell, not of the function of bats that loads this file. Cluster NAME has all of a private cluster's variables; `on NAME COMMAND...` runs a command with those of NAME.
declare -gA _CLUSTER_DIRS _CLUSTER_PORTS _CLUSTER_CLAIMS

# on NAME COMMAND...
on() {
  local name=$1
  shift
  use_cluster "$name"
  "$@"
}
use_cluster() {
  CLUSTER_DIR=${_CLUSTER_DIRS[$1]} CLUSTER_PORT=${_CLUSTER_PORTS[$1]} CLUSTER_CLAIM=${_CLUSTER_CLAIMS[$1]}
  CLUSTER_LEDGER=$CLUSTER_DIR/ledger.db CLUSTER_JOBCOMP=$CLUSTER_DIR/log/jobcomp.txt
  export SLURM_CONF=$CLUSTER_DIR/slurm.conf SHAPLEY_SOCKET=$CLUSTER_DIR/run/shapleyd.sock SHAPLEY_TEST_CLUSTER=$CLUSTER_DIR
}

# clusters_prepare NAME...: directories, keys and slurm.conf; nothing runs yet.
clusters_prepare() {
  local name first=""
  for name; do
    unset CLUSTER_DIR
    cluster_prepare || return 1
    _CLUSTER_DIRS[$name]=$CLUSTER_DIR _CLUSTER_PORTS[$name]=$CLUSTER_PORT _CLUSTER_CLAIMS[$name]=$CLUSTER_CLAIM
    sed -i "s/^ClusterName=.*/ClusterName=$name/" "$SLURM_CONF"
    [ -z "$first" ] || cp -p "$first/run/munge.key" "$CLUSTER_DIR/run/munge.key"
    first=${first:-$CLUSTER_DIR}
    shapleyctl keygen "$CLUSTER_DIR/head.key" >/dev/null || return 1
  done
}
clusters_start() {
  local name
  for name; do
    use_cluster "$name"
    _start_guard && _cluster_start_daemons && wait_until 15 plugin_connected && continue
    say "cluster $name did not start; its logs: $CLUSTER_DIR/log"
    return 1
  done
}
clusters_end() {
  local name stopped=0
  for name in "${!_CLUSTER_DIRS[@]}"; do
    use_cluster "$name"
    end_cluster || stopped=1
  done
  return "$stopped"
}

# other_cluster NAME PLACE: the lines of shapleyd.yaml that name it.
other_cluster() { printf '    - {name: %s, standing: "%s", public_key: %s}\n' "$1" "$2" "${_CLUSTER_DIRS[$1]}/head.key.pub"; }
# tcp_of NAME: where its shapleyd listens.
tcp_of() { echo "127.0.0.1:$((${_CLUSTER_PORTS[$1]} + 29))"; }
listening() { printf 'listen: %s\nmunge_socket: %s\nsigning_key: %s\n' "$(tcp_of "$1")" "$CLUSTER_DIR/run/munge.socket" "$CLUSTER_DIR/head.key"; }

# statements_at_least COUNT: of other clusters, recorded in this cluster's ledger.
statements_at_least() { test "$(ledger_sql "SELECT count(*) FROM events WHERE kind = 'standing_received'")" -ge "$1"; }

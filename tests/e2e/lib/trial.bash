# A trial slurmctld from a copy of slurm.conf, which finds the socket of the real one. To be sourced after cluster.bash.

cluster_told() { status_json | jq -r ".daemon.cluster$1"; }
cluster_told_is() { test "$(cluster_told "$1")" = "$2"; }
refused_often() { test "$(cluster_told '.refused.times // 0')" -ge "$1"; }

# A ClusterName, ports and folders of its own, all else as it is. Its nodes do not answer, so its jobs wait.
trial_conf() {
  mkdir -p "$CLUSTER_DIR/trial-state"
  sed -e "s/^ClusterName=.*/ClusterName=$1/" -e "s/^SlurmctldPort=.*/SlurmctldPort=$((CLUSTER_PORT + 27))/" \
    -e "s#^StateSaveLocation=.*#StateSaveLocation=$CLUSTER_DIR/trial-state#" \
    -e "s#^SlurmctldPidFile=.*#SlurmctldPidFile=$CLUSTER_DIR/run/trial-own.pid#" \
    -e "s#^SlurmctldLogFile=.*#SlurmctldLogFile=$CLUSTER_DIR/log/trial.log#" \
    -e "s#^JobCompLoc=.*#JobCompLoc=$CLUSTER_DIR/trial-jobcomp.txt#" -e 's/^\(NodeName=.*\) Port=[0-9]*/\1 Port=9/' "$SLURM_CONF" >"$CLUSTER_DIR/trial.conf"
}
trial_start() { daemon_start trial slurmctld -D -f "$CLUSTER_DIR/trial.conf"; }
in_trial() { SLURM_CONF=$CLUSTER_DIR/trial.conf "$@"; }
trial_answers() { in_trial ctld_answers; }

# A trial cluster of this name finds the socket, again and again, with a job whose number is one of ours; it is refused, and ours stays.
trial_is_refused() {
  trial_conf "$1" && trial_start && wait_until 30 trial_answers && wait_until 30 refused_often 1 || return 1
  in_trial submit astro -n1 "sleep 1" >"$CLUSTER_DIR/trial-job" && wait_until 30 refused_often 3 && plugin_connected
}

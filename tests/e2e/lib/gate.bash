# Jobs that end at the same instant. To be sourced after jobs.bash.

# prepare_gate: once the cluster has its directory.
prepare_gate() { mkdir -m 777 "$CLUSTER_DIR/gate" && mkfifo -m 666 "$CLUSTER_DIR/gate/pipe"; }

# The command of a job that lasts until `end_together` names it. All these end at the same instant: to open a pipe for reading takes until it is opened
# for writing.
until_together() { echo "cd $CLUSTER_DIR/gate; touch begun.\$SLURM_JOB_ID; until test -e end.\$SLURM_JOB_ID; do : <pipe; done"; }
# end_together JOB...: they have ended when it returns.
end_together() {
  wait_until 60 wait_at_gate "$@"
  (cd "$CLUSTER_DIR/gate" && touch $(printf 'end.%s ' "$@"))
  wait_until 60 opened_and_ended "$@"
}
wait_at_gate() {
  local job
  for job in "$@"; do [ -e "$CLUSTER_DIR/gate/begun.$job" ] || return 1; done
}
opened_and_ended() {
  : <>"$CLUSTER_DIR/gate/pipe"
  have_ended "$@"
}

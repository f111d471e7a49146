# A cluster of which half is full and half comes free, and what waits for either. To be sourced after serving.bash.

# two_full_nodes SED_EXPRESSION...: n1 and n2 are to be full with one long job of arts; astro owns n1 and n3, bio n2 and n4, arts nothing. Of 64 processors
# 32 come free, astro's and bio's own n3 and n4: 8 for the guarantee of each, and the others by lead, of which bio has six more. slurm.conf is edited before
# the start; P1 and P2 are the options of the partitions.
two_full_nodes() {
  local expression
  CLUSTER_NODE_CPUS=(16 16 16 16 "${MORE_CPUS[@]}") CLUSTER_RANKING="guarantee: ${GUARANTEE:-1/4}"
  CLUSTER_EXTRA_CONF+=$'\n'"Licenses=tool:${LICENSES:-1}"
  cluster_prepare
  cluster_config "organizations:" "  - {name: astro, accounts: [astro], nodes: [n1, n3]}" "  - {name: bio, accounts: [bio], nodes: [n2, n4]}" "  - {name: arts, accounts: [arts]${ARTS_NODES:-}}"
  for expression in '/^NodeName=n[12] /s/$/ Feature=old/' '/^NodeName=n[34] /s/$/ Feature=new/' "$@"; do sed -i "$expression" "$SLURM_CONF"; done
  echo "PartitionName=p1 Nodes=n[1-2] ${P1:-DefaultTime=60}" >>"$SLURM_CONF"
  echo "PartitionName=p2 Nodes=n[3-4] ${P2:-DefaultTime=60}" >>"$SLURM_CONF"
  cluster_start
  wait_until 15 plugin_connected
  wait_until 30 owned_is "${OWNED:-64}"
  give_leads astro 0 bio 3.3 arts 0
  for partition in main p2; do scontrol update PartitionName="$partition" State=DOWN; done
}
# full_with SBATCH_OPTION...: the long job of arts.
full_with() {
  long=$(submit arts "$@" "sleep 3000")
  wait_until 30 booked "$long"
}
# wait_with COUNT NAME JOB_NAME SBATCH_OPTION...
wait_with() {
  local i count=$1 name=$2 job_name=$3
  for ((i = 0; i < count; ++i)); do submit "$name" --job-name="$job_name" "${@:4}" "sleep 3000" >/dev/null; done
}
# wait_for_free SBATCH_OPTION...: astro waits with 24 processors for what is free, bio with 40.
wait_for_free() {
  wait_with 12 astro free -n 2 "$@"
  wait_with 20 bio free -n 2 "$@"
}
# opens PARTITION JOBS HELD: so many jobs wait and have places; then the partition opens, until so many processors are held.
opens() {
  wait_until 60 looked_at_places "$2"
  note_what_should_start "${FREE:-n1=0,n2=0,n3=16,n4=16}"
  cat "$CLUSTER_DIR/should"
  scontrol update PartitionName="$1" State=UP
  wait_until 60 holds_at_least "$3"
  expect_rule 2
}
# a_waits_for_both OPENED FREE_OPTIONS FULL_OPTIONS [HELD]: astro waits with 24 processors for what is full and behind them for what is free, as bio does.
a_waits_for_both() {
  wait_with 12 astro full -n 2 $3
  wait_for_free $2
  opens "$1" 44 "${4:-64}"
}
# a_waits_for_p1_and_p2 HELD: the same of partitions, of which p2 opens.
a_waits_for_p1_and_p2() {
  wait_with 12 astro full -n 2 -p p1
  wait_for_free -p p2
  opens p2 44 "$1"
}

#!/usr/bin/env bats
# Preemption by partition tier and by QOS, requeueing and cancelling: the books to the second, and ranks among those who preempt.

load lib/e2e
load lib/order

setup() { requeues_expected; }

# fill REQUEUE_OPTION CANCEL_OPTION: a job of a whole node on each, two that preemption requeues and two that it cancels. bio's runs
# on a node of astro, the others at home: so astro's claim and bio's debt only grow.
fill() {
  requeued=("$(submit bio "$1" --nodelist=n1 -n16 "$requeued_command")" "$(submit chem "$1" --nodelist=n4 -n16 "$requeued_command")")
  cancelled=("$(submit astro "$2" --nodelist=n2 -n16 "sleep 3000")" "$(submit bio "$2" --nodelist=n3 -n16 "sleep 3000")")
  wait_until 20 booked "${requeued[@]}" "${cancelled[@]}" || return 1
  wait_until 10 seconds_passed 0  # no run is of no second
}

# submit_urgent OPTION: four jobs of a whole node each, worst rank first, while their partition is closed.
submit_urgent() {
  for account in bio chem astro astro; do submit "$account" "$1" -n16 "sleep 2"; done >"$CLUSTER_DIR/urgent"
  squeue -h -t PENDING -j "$(paste -sd, "$CLUSTER_DIR/urgent")" -o '%A %a' >"$CLUSTER_DIR/waiting"
  [ "$(wc -l <"$CLUSTER_DIR/waiting")" -eq 4 ]
}

expect_preempted_books() {
  started "$CLUSTER_DIR/waiting" >"$CLUSTER_DIR/started"
  [ "$(wc -l <"$CLUSTER_DIR/started")" -eq 4 ]
  [ "$(inversions "astro chem bio" <"$CLUSTER_DIR/started")" -eq 0 ] || { cat "$CLUSTER_DIR/started" >&2; return 1; }
  for job in "${requeued[@]}"; do requeued_times "$job" 1 && job_is "$job" COMPLETED || return 1; done
  for job in "${cancelled[@]}"; do job_is "$job" PREEMPTED || return 1; done
  # One of lend, two runs of each requeued job, one of each cancelled one, four urgent ones.
  wait_until 20 enough_recorded 11
  [ "$(recorded_runs all | wc -l)" -eq 11 ] || { recorded_runs all >&2; return 1; }
  expect_books_correct 11
  [ -z "$(compare_standings "$(date +%s)")" ]
}

@test "preemption by partition tier: requeue in one partition, cancel in another" {
  CLUSTER_EXTRA_CONF="PreemptType=preempt/partition_prio
PreemptMode=REQUEUE
PartitionName=spare Nodes=ALL MaxTime=INFINITE DefaultTime=60 State=UP PreemptMode=CANCEL
PartitionName=urgent Nodes=ALL MaxTime=INFINITE DefaultTime=60 State=UP PriorityTier=10 PreemptMode=OFF"
  start_with
  lend
  fill --partition=main --partition=spare
  scontrol update PartitionName=urgent State=DOWN
  submit_urgent --partition=urgent
  wait_until 10 priorities_follow "astro chem bio"
  scontrol update PartitionName=urgent State=UP
  wait_drained 60
  expect_preempted_books
}

@test "preemption by QOS, with slurmdbd: the books also equal sacct's rows" {
  CLUSTER_DATABASE=yes
  BOOKS_ORGANIZATIONS=$DATABASE_ORGANIZATIONS
  eval "$(declare -f database_accounts | sed '1s/database_accounts/accounts_without_qos/')"
  database_accounts() {
    accounts_without_qos
    cat <<'QOS'
add qos scrap PreemptMode=cancel
add qos urgent
modify account astro,bio,chem set qos=normal,scrap,urgent
modify qos urgent set Preempt=normal,scrap
QOS
  }
  CLUSTER_EXTRA_CONF="AccountingStorageEnforce=associations,limits,qos
PreemptType=preempt/qos
PreemptMode=REQUEUE
PartitionName=gate Nodes=ALL MaxTime=INFINITE DefaultTime=60 State=UP"
  start_with
  lend
  fill --qos=normal --qos=scrap
  # The urgent ones come through a partition that can be closed, so that they all wait before the first starts.
  scontrol update PartitionName=gate State=DOWN
  SBATCH_PARTITION=gate submit_urgent --qos=urgent
  wait_until 10 priorities_follow "astro chem bio"
  scontrol update PartitionName=gate State=UP
  wait_drained 60
  expect_preempted_books
  wait_until 20 sacct_has_ended
  sacct -a -D -P -o JobIDRaw,Start,End,State,AllocCPUS,Suspended >"$CLUSTER_DIR/sacct.txt"
  run shapleyctl audit "$CLUSTER_LEDGER" --against "$CLUSTER_DIR/sacct.txt"
  [ "$status" -eq 0 ]
  [[ $output == *"$(recorded_runs | wc -l) runs compared"* ]]
}
sacct_has_ended() { test "$(sacct -a -D -X -P -n -o End | grep -c T)" -eq 11; }

#!/usr/bin/env bats
# Nodes of State=CLOUD, which Slurm boots for a job: what they offer while they are powered down, and what a job that waits for them to boot holds.

load lib/e2e

# cloud_cluster SECONDS: n1 is always there and astro's; c1 and c2 are bio's and do not exist. What boots them does nothing, so Slurm gives up after SECONDS.
cloud_cluster() {
  local i
  CLUSTER_NODE_CPUS=(16)
  CLUSTER_EXTRA_CONF="SuspendProgram=/bin/true
ResumeProgram=/bin/true
SuspendTime=100000
ResumeTimeout=$1
SuspendTimeout=5
SlurmctldParameters=cloud_dns,power_save_interval=1,power_save_min_interval=0"
  cluster_prepare
  for i in 1 2; do
    echo "NodeName=c$i NodeHostname=localhost NodeAddr=127.0.0.1 Port=$((CLUSTER_PORT + 10 + i)) CPUs=16 RealMemory=1000 State=CLOUD"
  done >>"$SLURM_CONF"
  echo "PartitionName=cloud Nodes=c[1-2] MaxTime=INFINITE DefaultTime=60 State=UP" >>"$SLURM_CONF"
  cluster_config "organizations:" "  - name: astro" "    accounts: [astro]" "    nodes: [n1]" \
    "  - name: bio" "    accounts: [bio]" "    nodes: [\"c[1-2]\"]"
  cluster_start
  wait_until 15 plugin_connected
}
# What a boot ends with: the node's slurmd, which says that it has just booted.
boot() { daemon_start "slurmd.$1" slurmd -D -b -f "$SLURM_CONF" -N "$1"; }

owned_is() { status_json | jq -e --arg name "$1" --argjson owned "$2" '.organizations[] | select(.name == $name) | .owned == $owned' >/dev/null; }
explains() { shapleyctl explain "$1" >"$CLUSTER_DIR/explanation" && grep -qF -- "$2" "$CLUSTER_DIR/explanation"; }
# books_hold JOB RUNS: so many runs of it have ended in the books.
books_hold() { [ "$(ledger_sql "SELECT COUNT(*) FROM segments WHERE kind = 'run' AND job = $1 AND end > begin AND retracted IS NULL")" = "$2" ]; }

@test "powered-down nodes offer what they have, and check-config, init and status agree that they are there" {
  cloud_cluster 600
  wait_until 10 owned_is bio 32
  run shapleyctl check-config --against-slurm "$CLUSTER_DIR/shapleyd.yaml"
  echo "$output"
  [ "$status" -eq 0 ]
  [[ $output == *"Slurm knows every name in it"* ]]
  run shapleyctl init
  echo "$output"
  [[ $output == *'"c[1-2]": CPUs not shown by Slurm while powered down'* ]]
}

@test "a cloud node that never boots: its allocation is a run in the books as in Slurm's records, requeued or not" {
  cloud_cluster 12
  requeued=$(submit astro -p cloud -w c1 -n4 true)
  failed=$(submit bio -p cloud -w c2 -n8 --no-requeue true)
  wait_until 60 requeued_times "$requeued" 1
  wait_until 10 job_is "$failed" NODE_FAIL
  wait_until 10 books_hold "$requeued" 1
  # A node that did not come is DOWN, and offers nothing.
  wait_until 10 owned_is bio 0
  scancel "$requeued"
  expect_books_correct 2
  [ "$(recorded_runs | wc -l)" -eq 2 ]
  [ "$(status_json | jq .daemon.lost_runs)" -eq 0 ]
}

@test "a job whose node boots: Slurm counts from when it is up, and so do the books" {
  cloud_cluster 600
  job=$(submit bio -p cloud -w c1 -n4 "sleep 1")
  cancelled=$(submit bio -p cloud -w c2 -n2 true)
  wait_until 10 job_is "$job" CONFIGURING
  wait_until 10 job_is "$cancelled" CONFIGURING
  wait_until 10 booked "$job" "$cancelled"
  wait_until 10 explains "$job" "It has 4 processors since "
  grep -q "and has not begun: its nodes boot" "$CLUSTER_DIR/explanation"
  wait_until 10 seconds_passed 2
  scancel "$cancelled"
  boot c1
  wait_until 60 job_is "$job" COMPLETED
  expect_books_correct 2
  [ "$(ledger_sql "SELECT COUNT(*) FROM segments WHERE kind = 'run' AND job = $job AND retracted IS NOT NULL")" -eq 1 ]
  # Both are runs of the request that waited.
  [ "$(ledger_sql "SELECT COUNT(*), COUNT(DISTINCT json_extract(payload, '\$.released')) FROM events
    WHERE key LIKE 'segment_opened/run/$job/%'")" = "2 1" ]
  daemon_stop slurmd.c1
}

#!/usr/bin/env bats
# Ranks and books beside what else decides in Slurm: partition tiers, backfill, preemption.

load lib/e2e
load lib/order

set_partitions() { local state=$1 name; shift; for name in "$@"; do scontrol update PartitionName="$name" State="$state"; done; }

@test "tiers first, then ranks: sixty jobs in two partitions" {
  CLUSTER_EXTRA_CONF="PartitionName=urgent Nodes=ALL MaxTime=INFINITE DefaultTime=60 State=UP PriorityTier=10"
  start_with
  lend
  set_partitions DOWN main urgent
  for ((i = 0; i < 10; ++i)); do
    for account in bio chem astro; do
      submit "$account" -p main -n8 "$(until_told tiers); sleep 1"
      submit "$account" -p urgent -n8 "$(until_told tiers); sleep 1"
    done
  done >/dev/null
  squeue -h -t PENDING -o '%A %P/%a' >"$CLUSTER_DIR/waiting"
  [ "$(wc -l <"$CLUSTER_DIR/waiting")" -eq 60 ]
  wait_until 20 astro_leads  # what is behind its first jobs is more than the cluster has, so that the others have no places in line yet
  set_partitions UP urgent main  # main alone would start its jobs
  # The cluster has room for eight. They last until all of them have started, so that the ranks are those of before.
  wait_until 20 eight_run
  tell tiers
  wait_drained 60
  started "$CLUSTER_DIR/waiting" >"$CLUSTER_DIR/started"
  [ "$(wc -l <"$CLUSTER_DIR/started")" -eq 60 ]
  order="urgent/astro urgent/chem urgent/bio main/astro main/chem main/bio"
  # Starts change the standing, and with it the ranks, while the queue empties; tiers never do.
  [ "$(sed 's|/.*||' "$CLUSTER_DIR/started" | passed_over_tiers)" -eq 0 ]
  # The first starts happen on the ranks that stood when the partitions opened.
  [ "$(head -n 8 "$CLUSTER_DIR/started" | inversions "$order")" -eq 0 ]
  [ "$(head -n 8 "$CLUSTER_DIR/started" | grep -c ' urgent/astro$')" -eq 8 ]
  expect_books_correct 61
}
astro_leads() { squeue -h -t PENDING -o '%a %Q' | awk '$1 == "astro" { if (!low || $2 < low) low = $2; next } $2 > high { high = $2 } END { exit !(low > high) }'; }
eight_run() { test "$(squeue -h -t RUNNING -o %A | wc -l)" -eq 8; }
# passed_over_tiers: reads "JOB TIER" in order of start; counts urgent starts after one of main.
passed_over_tiers() { awk '$2 == "main" { main++ } $2 == "urgent" { bad += main > 0 } END { print bad + 0 }'; }

started_before() { start_order | awk -v first="$1" -v then="$2" '$2 == first { seen = 1 } $2 == then { exit !seen }'; }
has_planned_start() { test "$(job_field "$1" StartTime)" != Unknown; }

@test "backfill: the big job of the best rank gets the reservation; what fits in before it starts, what would delay it waits" {
  CLUSTER_SCHEDULER=sched/backfill
  CLUSTER_EXTRA_CONF="$CLUSTER_BACKFILL,bf_resolution=60"
  start_with
  lend
  blocker=$(submit chem -n16 --nodelist=n1 -t60 "$(until_told blocker)")
  wait_until 10 running "$blocker"
  close_queue
  long=$(submit bio -n1 -t120 "sleep 1")  # first come, and nodes are idle: without ranks it starts at once
  big=$(submit astro -N4 --exclusive -t1 "sleep 2")
  short=$(submit bio -n1 -t1 "sleep 1")
  wait_until 10 priorities_follow "astro bio"
  open_queue
  wait_until 15 has_planned_start "$big"
  wait_until 15 job_is "$short" COMPLETED
  [ "$(job_state "$long")" = PENDING ]
  [ "$(job_state "$big")" = PENDING ]
  tell blocker
  wait_drained 40
  started_before "$short" "$big"
  started_before "$big" "$long"
  expect_books_correct 5
}

set_rank_weight() {
  sed -i "s/^rank_weight: .*/rank_weight: $1/" "$CLUSTER_DIR/shapleyd.yaml"
  shapleyd_reload
}
priority_of() { squeue -h -t PENDING -A "$1" -o %Q | sort -u | tr '\n' ' '; }
priority_is() { test "$(priority_of "$1")" = "$2 "; }
backfill_passes() { grep -c 'backfill: beginning' "$CLUSTER_DIR/log/slurmctld.log" || true; }
backfilled_since() { test "$(backfill_passes)" -gt "$1"; }

@test "backfill writes priorities back that it read before ranks changed: they are put right again" {
  CLUSTER_SCHEDULER=sched/backfill
  # A pass that lets go of its locks after each job and sleeps: ranks change in the middle of it.
  CLUSTER_EXTRA_CONF="SchedulerParameters=batch_sched_delay=0,sched_interval=60,bf_interval=1,bf_continue,bf_yield_interval=1,bf_yield_sleep=50000"
  start_with "order: weighted" "rank_weight: 3000"
  lend
  job=$(submit chem -N4 --exclusive -t30 "sleep 3000")
  wait_until 10 running "$job"
  for ((i = 0; i < 10; ++i)); do submit astro -n1 -t10 "sleep 1"; done >/dev/null
  for weight in 4000 5000 4000 5000; do
    passes=$(backfill_passes)
    wait_until 30 backfilled_since "$passes"  # a pass has just begun
    set_rank_weight "$weight"
  done
  passes=$(backfill_passes)
  wait_until 30 backfilled_since "$passes"
  set_rank_weight 7000
  wait_until 15 priority_is astro 7000
  # For good: the passes that were under way have ended since.
  passes=$(backfill_passes)
  wait_until 60 backfilled_since "$((passes + 1))"
  wait_until 10 priority_is astro 7000
}

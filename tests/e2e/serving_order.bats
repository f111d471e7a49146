#!/usr/bin/env bats
# One scheduling pass serves as the rule would that is asked again after every start: after everything has come free at once every organization holds
# what a program of its own (redecided) says that it should, within the widths of the jobs involved. On a real slurmctld, by its main loop
# (sched/builtin) and under its backfill, with places written by priority/shapley and by site_factor/shapley.

load lib/e2e
load lib/serving

# 80 processors: physics owns 42.7, biology 37.3 of them, humanities none.
consortium() {
  CLUSTER_NODE_CPUS=(16 16 16 16 16) CLUSTER_RANKING=${RANKING:-}
  cluster_prepare
  cluster_config "organizations:" \
    "  - {name: physics, accounts: [physics], nodes: [n1, n2, {nodes: n3, share: 2/3}]}" \
    "  - {name: biology, accounts: [biology], nodes: [{nodes: n3, share: 1/3}, n4, n5]}" \
    "  - {name: humanities, accounts: [humanities]}" "$@"
  cluster_start
  wait_until 15 plugin_connected
  wait_until 30 owned_is 80
}

under_backfill() { CLUSTER_SCHEDULER=sched/backfill CLUSTER_EXTRA_CONF+=$'\n'$CLUSTER_BACKFILL,default_queue_depth=10000; }

# everything_comes_free: six jobs of eight processors for each organization wait for the partition.
everything_comes_free() {
  close_queue
  for i in 1 2 3 4 5 6; do
    for name in biology physics humanities; do submit "$name" -n 8 "sleep 3000" >/dev/null; done
  done
  wait_until 60 looked_at_places 18
  note_what_should_start 80
  open_queue
  wait_until 30 holds_at_least 80
  expect_rule 8
}

@test "after a maintenance each organization gets its guarantee, and the rest by lead" {
  consortium
  everything_comes_free
  [ "$(held biology)" -ge 16 ]
  [ "$(held physics)" -ge 16 ]
}

@test "the same under backfill" {
  under_backfill
  consortium
  everything_comes_free
}

@test "the same with site_factor/shapley" {
  CLUSTER_PRIORITY=site_factor/shapley
  consortium
  everything_comes_free
}

# biology runs on 16 of 37.3 and lacks 2.7 to its guarantee, physics runs on 32 and is owed.
@test "an organization below its guarantee gets as much as it lacks, not all that comes free" {
  consortium
  give_leads physics 250 biology 0 humanities 0
  job=$(until_told '$SLURM_JOB_ID')
  for i in $(seq 40); do submit biology -n 1 --hold "sleep 3000" >/dev/null; done
  submit physics -n 1 --array=1-80 --hold "sleep 3000" >/dev/null
  held_ones=$(squeue -h -t PENDING -o %A | sort -u | paste -sd, -)
  wide=$(submit humanities -n 32 "$job")
  submit physics -n 32 "sleep 3000" >/dev/null
  wait_until 60 holds_at_least 64
  submit biology -n 16 "sleep 3000" >/dev/null
  wait_until 60 holds_at_least 80
  scontrol release "$held_ones"
  wait_until 60 looked_at_places 120
  note_what_should_start 32
  finish "$wide" "$wide"
  wait_until 60 holds_at_least 80
  sed -i /^humanities/d "$CLUSTER_DIR/should"  # what it held has come free
  expect_rule 2
  [ "$(held biology)" -ge 18 ]
}
# Jobs of 1 to 32 processors, some of them arrays, of five organizations, drawn by a seed; before, each has got and given something.
mixed_jobs() {
  local name i width seed=$1
  CLUSTER_NODE_CPUS=(32 32 32 32) CLUSTER_RANKING=""
  cluster_prepare
  cluster_config "organizations:" "  - {name: astro, accounts: [astro], nodes: [n1]}" "  - {name: bio, accounts: [bio], nodes: [n2]}" \
    "  - {name: chem, accounts: [chem], nodes: [{nodes: n3, share: 1/2}]}" "  - {name: geo, accounts: [geo], nodes: [{nodes: n3, share: 1/2}, n4]}" \
    "  - {name: arts, accounts: [arts]}"
  cluster_start
  wait_until 15 plugin_connected
  wait_until 30 owned_is 128
  RANDOM=$seed
  for name in arts bio geo; do submit "$name" -n $((8 + RANDOM % 32)) "sleep $((3 + RANDOM % 4))" >/dev/null; done
  wait_drained 60
  close_queue
  for i in $(seq 12); do
    for name in astro bio chem geo arts; do
      width=$((RANDOM % 3 ? 1 + RANDOM % 8 : 1 + RANDOM % 32))
      if ((RANDOM % 4)); then submit "$name" -n "$width" "sleep 3000" >/dev/null; else submit "$name" -n "$((1 + RANDOM % 4))" --array=1-8 "sleep 3000" >/dev/null; fi
    done
  done
  wait_until 60 looked_at_places "$(waiting | wc -l)"
  note_what_should_start 128
  open_queue
  wait_until 60 holds_at_least "$2"
  expect_rule 32
}

@test "main loop: five organizations, jobs of 1 to 32 processors, arrays" {
  mixed_jobs 1 97
}

@test "backfill: five organizations, jobs of 1 to 32 processors, arrays" {
  under_backfill
  mixed_jobs 2 120
}

# The narrower the jobs, the nearer to the rule: arrays stand in line task by task.
@test "arrays of one-processor tasks share as single jobs do" {
  consortium
  close_queue
  for name in biology physics humanities; do submit "$name" -n 1 --array=1-200 "sleep 3000" >/dev/null; done
  wait_until 60 looked_at_places 600
  note_what_should_start 80
  open_queue
  wait_until 60 holds_at_least 80
  expect_rule 3
}

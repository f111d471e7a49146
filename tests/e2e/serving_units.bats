#!/usr/bin/env bats
# The serving order counts what jobs block, not the CPUs that they ask for, and counts each task of an array by itself. On a real slurmctld everything
# comes free at once, and every organization holds what a program of its own (redecided) says, within the width of one job.

load lib/e2e
load lib/serving

# wait_in_line COUNT SBATCH_OPTION...: so many jobs of each organization.
wait_in_line() {
  local count=$1 i name
  shift
  for ((i = 0; i < count; ++i)); do
    for name in astro bio chem arts; do submit "$name" "$@" "sleep 3000" >/dev/null || return 1; done
  done
}

# everything_comes_free WIDTH: what waits has places; then the whole partition opens.
everything_comes_free() {
  wait_until 60 looked_at_places "$(waiting | wc -l)"
  note_what_should_start 64
  cat "$CLUSTER_DIR/should"
  open_queue
  wait_until 60 holds_at_least 64
  expect_rule "$1"
}

# A job of one CPU and half a node's memory blocks eight processors; the small ones behind find no memory.
@test "jobs of one CPU and half a node's memory" {
  JOBS_AS='{ print organization, (mib == 500 ? 8 : cpus) }'
  four_organizations 's/^SelectTypeParameters=.*/SelectTypeParameters=CR_CPU_Memory/'
  give_leads astro 5 bio 3 chem 0 arts 6
  close_queue
  wait_in_line 10 -n 1 --mem=500
  wait_in_line 3 -n 1 --mem=10
  everything_comes_free 8
}

@test "jobs of one of the four GPUs of a node" {
  JOBS_AS='{ print organization, (gres ~ /gpu/ ? 4 : cpus) }'
  CLUSTER_EXTRA_CONF="GresTypes=gpu"
  cluster_prepare
  echo "NodeName=n[1-4] Name=gpu File=/dev/tty[0-3]" >"$CLUSTER_DIR/gres.conf"
  four_organizations '/^NodeName=/s/ RealMemory/ Gres=gpu:4 RealMemory/'
  give_leads astro 5 bio 3 chem 0 arts 6
  close_queue
  wait_in_line 20 -n 1 --gres=gpu:1
  everything_comes_free 4
}

# Slurm gives whole cores, so a job of one task is charged two of a node's sixteen threads.
@test "jobs of one task on nodes of two threads a core" {
  JOBS_AS='{ print organization, 2 }'
  four_organizations 's/^SelectTypeParameters=.*/SelectTypeParameters=CR_Core/' '/^NodeName=/s/ CPUs=16/ Sockets=1 CoresPerSocket=8 ThreadsPerCore=2/'
  give_leads astro 2 bio 1 chem 0 arts 6
  close_queue
  wait_in_line 20 -n 1
  everything_comes_free 2
}

# It leaves a thread of each core idle, and gets both.
uses_one_thread_of_a_core() {
  JOBS_AS='{ print organization, 8 }'
  four_organizations 's/^SelectTypeParameters=.*/SelectTypeParameters=CR_Core/' '/^NodeName=/s/ CPUs=16/ Sockets=1 CoresPerSocket=8 ThreadsPerCore=2/'
  give_leads astro 2 bio 1 chem 0 arts 4
  close_queue
  wait_in_line 12 -n 4 "$1"
  everything_comes_free 8
}
@test "hint=nomultithread" { uses_one_thread_of_a_core --hint=nomultithread; }
@test "threads-per-core=1" { uses_one_thread_of_a_core --threads-per-core=1; }
@test "ntasks-per-core=1" { uses_one_thread_of_a_core --ntasks-per-core=1; }

# one_array_each: forty tasks of two processors of each organization. Places are asked for only once after the last submission.
one_array_each() {
  local name lines
  close_queue
  for name in astro bio chem arts; do submit "$name" -n 2 --array=1-40 "sleep 3000" >/dev/null; done
  lines=$(lines_of "$CLUSTER_DIR/log/slurmctld.log")
  wait_until 60 scanned_since "$lines"
  note_what_should_start 64
  cat "$CLUSTER_DIR/should"
  open_queue
  wait_until 60 holds_at_least 64
  expect_rule 2
}

@test "one array each, with leads that meet in this pass" {
  four_organizations
  give_leads astro 6.9 bio 4.5 chem 0 arts 6.1
  one_array_each
}

@test "one array each, with leads as far apart as a hundred core-hours of debt make them" {
  four_organizations
  give_leads astro 108.5 bio 77 chem 0 arts 96.5
  one_array_each
}

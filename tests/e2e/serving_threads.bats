#!/usr/bin/env bats
# Slurm's options about threads of a core: what a start takes from a lead is what will be allocated. On a real slurmctld, against redecided.

load lib/e2e
load lib/serving

# threaded WIDTH SBATCH_OPTION...: of 64 processors, two threads a core, astro owns 32, bio and chem 16 each, arts none; each waits with twelve jobs that block WIDTH.
threaded() {
  local i name width=$1
  shift
  JOBS_AS='{ print organization, '$width' }'
  CLUSTER_NODE_CPUS=(16 16 16 16) CLUSTER_RANKING=""
  cluster_prepare
  cluster_config "organizations:" "  - {name: astro, accounts: [astro], nodes: [n1, n2]}" "  - {name: bio, accounts: [bio], nodes: [n3]}" \
    "  - {name: chem, accounts: [chem], nodes: [n4]}" "  - {name: arts, accounts: [arts]}"
  sed -i -e 's/^SelectTypeParameters=.*/SelectTypeParameters='"${SELECT:-CR_Core}"'/' -e '/^NodeName=/s/ CPUs=16/ Sockets=1 CoresPerSocket=8 ThreadsPerCore=2/' "$SLURM_CONF"
  cluster_start
  wait_until 15 plugin_connected
  wait_until 30 owned_is 64
  give_leads astro 2 bio 1 chem 0 arts 4
  close_queue
  for ((i = 0; i < 12; ++i)); do
    for name in astro bio chem arts; do submit "$name" "$@" "sleep 3000" >/dev/null; done
  done
  wait_until 60 looked_at_places 48
  note_what_should_start 64
  open_queue
  wait_until 60 holds_at_least 64
  expect_rule "$width"
}

@test "hint=nomultithread" { threaded 8 -n 4 --hint=nomultithread; }
@test "threads-per-core=1" { threaded 8 -n 4 --threads-per-core=1; }
@test "ntasks-per-core=1" { threaded 8 -n 4 --ntasks-per-core=1; }

#!/usr/bin/env bats
# A job that an account's limit kept from starting comes into line when the limit is no longer reached, whatever slurmctld found when it tried it last.
# With slurmdbd.

load lib/e2e
load lib/serving

has_reason() { [ "$(squeue -h -j "$1" -o %r)" = "$2" ]; }
runs_or_starts() { job_is "$1" RUNNING || [ "$(start_order | wc -l)" -ge "$2" ]; }

# astro owns both nodes and leads by far; its account pulsars may use one processor, which a job on n2 holds. The queue of bio's jobs, each a whole n1, does not end.
@test "an account's limit is no longer reached" {
  CLUSTER_DATABASE=yes CLUSTER_EXTRA_CONF="AccountingStorageEnforce=limits"
  CLUSTER_NODE_CPUS=(16 1) CLUSTER_RANKING="guarantee: 0"
  cluster_prepare
  cluster_config "organizations:" "  - {name: astro, accounts: [astro], nodes: [n1, n2]}" "  - {name: bio, accounts: [bio]}"
  cluster_start
  wait_until 15 plugin_connected
  sacctmgr -i modify account pulsars set GrpTRES=cpu=1
  wait_until 30 owned_is 17
  give_leads astro 50 bio 0
  short=$(submit pulsars -w n2 -n 1 "$(until_told short)")
  wait_until 30 booked "$short"
  limited=$(submit pulsars -n 1 -w n1 "sleep 3000")
  for i in $(seq 60); do submit cells -n 16 -N 1 -t 10 "sleep 1" >/dev/null; done
  wait_until 60 has_reason "$limited" AssocGrpCpuLimit
  finish short "$short"
  before=$(start_order | wc -l)
  wait_until 60 runs_or_starts "$limited" $((before + 8))
  job_is "$limited" RUNNING
}

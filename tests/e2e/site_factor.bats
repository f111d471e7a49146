#!/usr/bin/env bats
# site_factor/shapley: ranks and books for a site that keeps PriorityType=priority/multifactor.

load lib/e2e
load lib/order

setup() { CLUSTER_PRIORITY=site_factor/shapley; }

connected_program() { status_json | jq -r .plugin.program; }
log_has() { grep -q "$1" "$CLUSTER_DIR/log/slurmctld.log"; }
no_rank_left() { test ! -e "$CLUSTER_DIR/state/shapley.scales"; }
pending_priorities() { squeue -h -t PENDING -o %Q | sort -un | tr '\n' ' '; }
priorities_of_are() { test "$(squeue -h -t PENDING -A "$1" -o %Q | sort -u)" = "$2"; }
priorities_are() { test "$(pending_priorities)" = "$1"; }

@test "sixty jobs of three organizations start by rank, those in two partitions too; the books are right" {
  CLUSTER_EXTRA_CONF="PartitionName=other Nodes=ALL MaxTime=INFINITE DefaultTime=60 State=UP"
  start_with
  scontrol show config | grep -qE '^PriorityType += priority/multifactor$'
  [[ $(connected_program) == "site_factor/shapley "* ]]
  lend
  close_queue
  scontrol update PartitionName=other State=DOWN
  submit_interleaved 18
  for account in bio chem astro bio chem astro; do submit "$account" -p other,main "sleep 1" >/dev/null; done
  squeue -h -t PENDING -o '%A %a' >"$CLUSTER_DIR/waiting"
  [ "$(wc -l <"$CLUSTER_DIR/waiting")" -eq 60 ]
  wait_until 10 priorities_follow "astro chem bio"
  open_queue
  wait_drained 30
  started "$CLUSTER_DIR/waiting" >"$CLUSTER_DIR/started"
  [ "$(wc -l <"$CLUSTER_DIR/started")" -eq 60 ]
  [ "$(inversions "astro chem bio" <"$CLUSTER_DIR/started")" -eq 0 ]
  [ "$(inversions "bio chem astro" <"$CLUSTER_DIR/started")" -gt 1000 ]  # the count can fail
  expect_books_correct 61
}

@test "waiting jobs follow a change of ranks without multifactor's own recalculation; sprio shows the rank as SITE" {
  start_with
  lend
  close_queue
  submit_interleaved 2
  submit visitors "sleep 1" >/dev/null  # of no organization: a guest
  wait_until 10 priorities_follow "astro chem bio visitors"
  wait_until 10 priorities_are_ranks
  status_json | jq -e '.ranking.guests == "last"'
  # A guest who got nothing goes before bio, who owes, if the site says so. (chem is even, as the guest is.)
  sed -i 's/^organizations:/guests: ranked\n&/' "$CLUSTER_DIR/shapleyd.yaml"
  shapleyd_reload
  wait_until 10 priorities_follow "astro visitors bio"
  [ "$(ledger_sql "SELECT group_concat(COALESCE(json_extract(payload, '\$.guests'), 'ranked')) FROM events WHERE kind = 'ranking_declared'")" = last,ranked ]
  sed -i '/^guests:/d; s/^organizations:/order: weighted\nrank_weight: 3000\n&/' "$CLUSTER_DIR/shapleyd.yaml"
  shapleyd_reload
  # Four ranks, and guests have the last: the first gets the whole weight, the third a third of it.
  wait_until 10 priorities_of_are astro 3000
  wait_until 10 priorities_of_are bio 1000
  # Back to plain multifactor: without weights every priority is 1.
  printf 'mode: observe\n' >>"$CLUSTER_DIR/shapleyd.yaml"
  shapleyd_reload
  wait_until 20 no_rank_left
  wait_until 20 priorities_are "1 "
}
priorities_are_ranks() { test "$(sprio -h -o '%Y %S' | awk '$1 == $2 && $2 >= 10000' | wc -l)" -eq 7; }

@test "requeues, arrays, cancels, a reconfigure and a restart of slurmctld: the books stay right" {
  requeues_expected
  start_with
  plain_load 9
  array_load
  cancelled_load
  requeued_load
  reconfigure
  between_launches ctld_restart
  open_queue
  plain_load 6
  wait_drained 90
  expect_books_correct 20
  [ -z "$(compare_standings "$(date +%s)")" ]
}

@test "both plugins at once: site_factor steps aside, says so, and ranks act through priority/shapley" {
  CLUSTER_PRIORITY=priority/shapley
  CLUSTER_EXTRA_CONF="PrioritySiteFactorPlugin=site_factor/shapley"
  start_with
  wait_until 10 log_has 'site_factor/shapley: PriorityType=priority/shapley does the same and more: stepping aside'
  [[ $(connected_program) == "priority/shapley "* ]]
  lend
  close_queue
  submit_interleaved 1
  wait_until 10 priorities_follow "astro chem bio"
}

@test "a misspelt option stops slurmctld's start with a line that names it" {
  cluster_prepare
  three_organizations
  sed -i 's/^PrioritySiteFactorParameters=.*/&,colour=blue/' "$SLURM_CONF"
  run cluster_start
  [ "$status" -ne 0 ]
  wait_until 5 log_has 'site_factor/shapley: PrioritySiteFactorParameters: unknown option "colour"'
}

#!/usr/bin/env bats
# Pending jobs start in the order of the organizations' standing, on a real slurmctld.

load lib/e2e
load lib/order

@test "sixty jobs of three organizations start by rank, and first come first served within one" {
  start_with
  lend
  close_queue
  submit_interleaved 20
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

@test "an organization that takes loses its rank, and waiting jobs get the new order" {
  start_with
  lend
  # astro takes all nodes for as long as it takes; chem and bio wait meanwhile.
  job=$(submit astro -N4 --exclusive "$(until_told enough)")
  wait_until 10 job_is "$job" RUNNING
  submit chem "sleep 1"
  submit astro "sleep 1"
  wait_until 30 astro_is_last
  wait_until 10 priorities_follow_the_ranks
  tell enough
  wait_drained 30
}
astro_is_last() { [[ $(ranked) =~ ^(chem bio|bio chem)\ astro$ ]]; }
priorities_follow_the_ranks() { priorities_follow "$(ranked)"; }

@test "sprio shows the rank as SITE, and the priority is the sum" {
  start_with
  lend
  close_queue
  submit_interleaved 1
  wait_until 10 priorities_follow "astro chem bio"
  sprio -h -o '%i %Y %S' >"$CLUSTER_DIR/sprio"
  [ "$(wc -l <"$CLUSTER_DIR/sprio")" -eq 3 ]
  # No other factor has a weight here: the whole priority is the site factor.
  [ "$(awk '$2 != $3 || $3 <= 0 { ++bad } END { print bad + 0 }' "$CLUSTER_DIR/sprio")" -eq 0 ]
  sprio -l | grep -q SITE
}

@test "held jobs and directly set priorities are left alone" {
  start_with
  lend
  close_queue
  held=$(submit astro --hold true)
  set_by_hand=$(submit bio true)
  plain=$(submit chem true)
  scontrol update jobid="$set_by_hand" priority=4242
  # Ranks change (astro runs), so that every priority is written again.
  wait_until 10 has_priority "$plain"
  before=$(job_field "$plain" Priority)
  scontrol update jobid="$plain" nice=7
  wait_until 10 priority_differs "$plain" "$before"
  wait_until 30 all_looked_at
  [ "$(job_field "$held" Priority)" -eq 0 ]
  [ "$(job_field "$set_by_hand" Priority)" -eq 4242 ]
  # A released job is an ordinary one at once.
  scontrol release "$held"
  wait_until 5 priorities_follow "astro chem"
}

has_priority() { test "$(job_field "$1" Priority)" -gt 0; }
priority_differs() { test "$(job_field "$1" Priority)" -ne "$2"; }

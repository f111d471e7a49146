#!/usr/bin/env bats
# mode observe: the books and the would-be ranks, and not one priority touched; then ranks on by reload, and off again.

load lib/e2e
load lib/pair

setup() {
  # Weights, without which every priority would be 1 and equal by accident.
  CLUSTER_EXTRA_CONF="PriorityWeightJobSize=5000"$'\n'"PriorityWeightPartition=300"$'\n'"PriorityWeightTRES=CPU=2000"
}

# submit_mixture: the same pending jobs in whichever cluster is current: of several sizes and nice values, one held, one with a
# priority set by hand, two with a site factor of the site's own (10000 is also the least value that a rank has).
submit_mixture() {
  local account size own=()
  close_queue
  for account in astro bio chem; do
    for size in 1 3 7; do own+=("$(submit "$account" -n "$size" --nice="$((size * 10))" true)") || return 1; done
  done
  own+=("$(submit bio --hold true)" "$(submit chem -n2 true)")
  scontrol update jobid="${own[10]}" priority=4242
  scontrol update jobid="${own[1]}" sitefactor=500
  scontrol update jobid="${own[4]}" sitefactor=10000
  echo "${own[1]}" >"$CLUSTER_DIR/job-with-own-factor"
}

# priorities: "JOB PRIORITY SITE" of every pending job; SITE is - where Slurm computes no priority (held, set by hand).
priorities() {
  awk 'NR == FNR { site[$1] = $2; next } { print $1, $2, $2 == 0 || $2 == 4242 || !($1 in site) ? "-" : site[$1] }' \
    <(sprio -h -o '%i %S') <(squeue -h -t PENDING -S i -o '%A %Q')
}
site_of() { sprio -h -j "$1" -o %S | tr -d ' '; }

set_mode() {
  sed -i "s/^mode: .*/mode: $1/" "$CLUSTER_DIR/shapleyd.yaml"
  shapleyd_reload
  wait_until 10 mode_is "$1"
}
mode_is() { status_json | jq -e --arg mode "$1" '.daemon.mode == $mode'; }
no_rank_left() { test ! -e "$CLUSTER_DIR/state/shapley.scales"; }
# The plugin compares every record at least once in five seconds, and hints shorten that; scans are counted in its debug lines.
scans() { grep -c 'scanned the jobs' "$CLUSTER_DIR/log/slurmctld.log" || true; }
scanned_since() { test "$(scans)" -gt "$1"; }
priorities_are() { diff "$1" <(priorities); }
# The same with a deadline, at which what differs is shown.
priorities_become() { wait_until 20 priorities_are "$1" || { priorities_are "$1"; return 1; }; }

@test "priorities equal those of plain multifactor, a site's own site factors included, and the books are right" {
  CLUSTER_EXTRA_CONF+=$'\n'"SlurmctldDebug=debug2"
  pair_start "mode: observe"
  in_both plain_load 9
  in_both wait_drained 40
  in_both submit_mixture
  in_plain priorities >"$PAIR_DIR/plain"
  [ "$(wc -l <"$PAIR_DIR/plain")" -eq 11 ]
  [ "$(cut -d ' ' -f 2 "$PAIR_DIR/plain" | sort -u | wc -l)" -gt 5 ]
  grep -q ' 500$' "$PAIR_DIR/plain"
  use shapley
  before=$(scans)
  wait_until 20 scanned_since "$((before + 1))"  # the first of them may have begun before
  priorities_are "$PAIR_DIR/plain"
  # Also after a restart, when the plugin finds jobs that it has never seen.
  ctld_restart
  wait_until 15 plugin_connected
  before=$(scans)
  wait_until 20 scanned_since "$((before + 1))"
  priorities_become "$PAIR_DIR/plain"
  no_rank_left
  in_both open_queue
  in_both wait_until 20 only_held_left
  in_shapley expect_books_correct 4  # who ended in the second of his start is no run
}
only_held_left() { test "$(squeue -h -o %A | wc -l)" -eq 1; }

@test "status says what the ranks would be and that they are not in force" {
  start_with "mode: observe"
  submit bio -N2 --nodelist=n1,n2 --exclusive "sleep 3" >/dev/null
  wait_drained 20
  wait_until 10 ranked_is "astro chem bio"
  run shapleyctl status
  [ "$status" -eq 0 ]
  [[ $output == *"Ranks:   not in force (mode observe): priorities are untouched; with mode priorities: astro, "* ]]
  [[ $output == *WouldRank* ]]
  status_json | jq -e '.ranks_act == false'
  # astro is first, and bio, who took, the last of the organizations; guests go after it.
  status_json | jq -e '[.organizations[] | {(.name): .would_rank}] | add | .astro == 1 and .bio == 3 and .guests == 4 and .commons == null'
  [ "$(shapleyctl status -P | sed -n '1s/|standing.*//p;/^astro/s/|+.*//p' | head -n 1)" = "organization|would_rank" ]
  [ "$(shapleyctl status -P -n -o organization,would_rank | grep astro)" = "astro|1" ]
}

@test "ranks on by reload, off again, also across a restart of slurmctld: what is left is plain multifactor" {
  pair_start "mode: observe"
  in_both submit_mixture
  use shapley
  # The site's own factors do not outlive ranks; plain multifactor without them is what must be left in the end.
  with_own=$(cat "$CLUSTER_DIR/job-with-own-factor")
  set_mode priorities
  wait_until 10 ranked_by_site_factor
  [ "$(site_of "$with_own")" -ne 500 ]
  status_json | jq -e '.ranks_act and ([.organizations[] | has("would_rank")] | any | not)'
  [[ $(shapleyctl status) != *Ranks:* ]]
  set_mode observe
  wait_until 20 no_rank_left
  in_plain clear_own_factors
  in_plain priorities >"$PAIR_DIR/plain"
  use shapley
  priorities_become "$PAIR_DIR/plain"
  # Once more, with both daemons down in between: the values are recognized by what is kept on disk.
  set_mode priorities
  wait_until 10 ranked_by_site_factor
  ctld_stop
  shapleyd_stop
  sed -i "s/^mode: .*/mode: observe/" "$CLUSTER_DIR/shapleyd.yaml"
  shapleyd_start
  ctld_start
  wait_until 20 no_rank_left
  priorities_become "$PAIR_DIR/plain"
}
clear_own_factors() { squeue -h -t PENDING -o %A | xargs -I{} scontrol update jobid={} sitefactor=0; }
# All but the held one and the one with a priority set by hand.
ranked_by_site_factor() { test "$(priorities | awk '$3 >= 10000' | wc -l)" -eq 9; }

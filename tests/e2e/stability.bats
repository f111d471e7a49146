#!/usr/bin/env bats
# Two organizations that always have work, after one of them had been alone: with the published rule they take turns with the whole cluster, with the
# default they share it, and with a guarantee neither goes without. Counted in starts, not in seconds.

load lib/e2e

alone=16 together=80

# share_a_cluster RANKING_LINE...: bio is alone for 16 starts, then both have work until the end. Leaves the accounts of the starts that follow, in
# order, in $CLUSTER_DIR/starts. All jobs are alike.
share_a_cluster() {
  local i
  CLUSTER_RANKING=$(printf '%s\n' "$@") CLUSTER_NODE_CPUS=(2 2)
  cluster_prepare
  cluster_config "organizations:" "  - {name: astro, accounts: [astro], nodes: [n1]}" "  - {name: bio, accounts: [bio], nodes: [n2]}"
  cluster_start
  wait_until 15 plugin_connected
  for ((i = 0; i < alone; ++i)); do submit bio "sleep 2" >/dev/null; done
  wait_until 90 started_at_least "$alone"
  # To submit takes a while, on a busy machine many times as long as a job: nothing starts meanwhile.
  close_queue
  for ((i = 0; i < together; ++i)); do submit bio "sleep 2" >/dev/null && submit astro "sleep 2" >/dev/null; done
  squeue -h -t all -o '%A %a' >"$CLUSTER_DIR/accounts"
  open_queue
  wait_until 100 started_at_least $((alone + together))
  start_order | awk 'NR == FNR { account[$1] = $2; next } { print account[$2] }' "$CLUSTER_DIR/accounts" - | tail -n +$((alone + 1)) |
    head -n "$together" >"$CLUSTER_DIR/starts"
}
started_at_least() { [ "$(start_order | wc -l)" -ge "$1" ]; }

# count ACCOUNT FROM TO: its starts among those.
count() { sed -n "$2,$3p" "$CLUSTER_DIR/starts" | grep -c "^$1$"; }

# The first starts may follow older ranks. What bio got so long takes astro twice as many starts to get, and as many again to be paid back.
@test "the published rule: after it had been alone, bio goes without" {
  share_a_cluster "rule: published" "guarantee: 0"
  paste -sd' ' "$CLUSTER_DIR/starts"
  [ "$(count bio 13 36)" -le 2 ]
}

@test "a rule that brakes: once bio has given back what it got, both have half" {
  share_a_cluster "guarantee: 0"
  paste -sd' ' "$CLUSTER_DIR/starts"
  [ "$(count bio 41 80)" -ge 10 ] && [ "$(count bio 41 80)" -le 30 ]
  shapleyctl status
  ledger_sql "SELECT payload FROM events WHERE kind = 'ranking_declared'" | jq -e '.rule == "braking" and .guarantee == 0'
}

# first_is ACCOUNT: the next job to start is its; with a guarantee no more of its jobs go first than it lacks.
first_is() { test "$(squeue -h -t PENDING -S -p,i -o %a | head -n 1)" = "$1"; }
in_debt() { status_json | jq -e --arg name "$1" '.organizations[] | select(.name == $name) | (.phi | tonumber) < (.psi | tonumber)'; }
used_is() { status_json | jq -e --arg name "$1" '.organizations[] | select(.name == $name) | .used == '"$2"; }
# end_one ACCOUNT: the job of it that has run longest, and waits for the start that takes its place. Prints that one's account.
end_one() {
  local starts
  starts=$(start_order | wc -l)
  tell "$(squeue -h -t RUNNING -A "$1" -S S -o %A | head -n 1)"
  wait_until 60 started_at_least $((starts + 1))
  job_field "$(start_order | tail -n 1 | cut -d ' ' -f 2)" Account
}

# No job uses n3, which is bio's, too: with both processors of n2 bio has less than its own, and pays nothing back by what it lends, however long
# the test takes. Each end waits until the ranks that follow from the start before are in the priorities, and changes none itself: only bio has a
# guarantee.
@test "a guarantee: bio, in debt, goes first while it has less than its own" {
  CLUSTER_RANKING="rule: published"$'\n'"guarantee: 0" CLUSTER_NODE_CPUS=(2 2 1)
  cluster_prepare
  cluster_config "organizations:" "  - {name: astro, accounts: [astro], nodes: [n1]}" "  - {name: bio, accounts: [bio], nodes: [n2, n3], guarantee: 1}"
  cluster_start
  wait_until 15 plugin_connected
  for ((i = 0; i < 8; ++i)); do submit bio -w n1 "sleep 2" >/dev/null; done
  wait_drained 90
  job=$(until_told '$SLURM_JOB_ID')
  for i in 1 2; do submit astro -w n1 "$job" >/dev/null && submit bio -w n2 "$job" >/dev/null; done
  wait_until 30 used_is astro 2
  wait_until 30 used_is bio 2
  for ((i = 0; i < 6; ++i)); do submit astro -x n3 "$job" >/dev/null && submit bio -x n3 "$job" >/dev/null; done
  wait_until 30 first_is bio
  in_debt bio
  [ "$(end_one astro)" = bio ]
  # Now bio has as much as is its own.
  wait_until 30 used_is bio 3
  wait_until 30 first_is astro
  in_debt bio
  [ "$(end_one astro)" = astro ]
}

# Each owns four of eight processors and has more work than the cluster can do, in jobs of two seconds, which is what the ledger says of the time for
# which a processor stays in use; so U is one processor. astro is alone until bio is owed what it takes some forty seconds to pay back and to brake.
owed() { status_json | jq -r '.organizations[] | select(.name == "bio") | (.phi | tonumber) - (.psi | tonumber) | floor'; }
is_owed_at_least() { [ "$(owed)" -ge "$1" ]; }
# follow_until_even: prints the greatest and the least of what bio is owed until it has been within a quarter of the greatest for twenty looks.
follow_until_even() {
  local now greatest=0 least=0 looks=0 quiet=0
  while [ "$quiet" -lt 20 ] && [ "$looks" -lt 400 ]; do
    now=$(owed)
    [ "$now" -le "$greatest" ] || greatest=$now
    [ "$now" -ge "$least" ] || least=$now
    if [ $((4 * now)) -le "$greatest" ] && [ $((4 * now)) -ge $((-greatest)) ]; then quiet=$((quiet + 1)); else quiet=0; fi
    looks=$((looks + 1))
    sleep 0.5
  done
  echo "$greatest $least $quiet"
}

@test "an organization that was away for long is even without overshoot" {
  CLUSTER_RANKING="" CLUSTER_NODE_CPUS=(4 4)
  cluster_prepare
  cluster_config "organizations:" "  - {name: astro, accounts: [astro], nodes: [n1]}" "  - {name: bio, accounts: [bio], nodes: [n2]}"
  "$SHAPLEY_BUILD/bin/seed_ledger" "$CLUSTER_LEDGER" 2
  cluster_start
  wait_until 15 plugin_connected
  submit astro -n 1 --array=0-999 "sleep 2" >/dev/null
  wait_until 60 is_owed_at_least 100
  submit bio -n 1 --array=0-999 "sleep 2" >/dev/null
  read -r greatest least quiet < <(follow_until_even)
  echo "bio was owed $greatest at most and $least at least"
  shapleyctl status
  [ "$quiet" -eq 20 ]
  [ $((4 * least)) -ge $((-greatest)) ]
  scancel -u "$JOB_UID"
}

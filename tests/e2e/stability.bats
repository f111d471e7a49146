#!/usr/bin/env bats
# Two organizations that always have work, after one of them had been alone: with the published rule they take turns with the whole cluster, with a
# horizon they share it, and with a guarantee neither goes without. Counted in starts, not in seconds.

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
@test "horizon 0: after it had been alone, bio goes without" {
  share_a_cluster "horizon: 0" "guarantee: 0"
  paste -sd' ' "$CLUSTER_DIR/starts"
  [ "$(count bio 13 36)" -le 2 ]
}

@test "a horizon: once bio has given back what it got, both have half" {
  share_a_cluster "guarantee: 0"
  paste -sd' ' "$CLUSTER_DIR/starts"
  [ "$(count bio 41 80)" -ge 10 ] && [ "$(count bio 41 80)" -le 30 ]
  shapleyctl status
  ledger_sql "SELECT payload FROM events WHERE kind = 'ranking_declared'" | jq -e '.horizon == 604800 and .guarantee == 0'
}

@test "a guarantee: bio, in debt, keeps its own node" {
  share_a_cluster "horizon: 0" "guarantee: 1"
  paste -sd' ' "$CLUSTER_DIR/starts"
  # Half of the starts, where ranks are never late; a pass of the scheduler fills what is free by those that it has.
  [ "$(count bio 13 36)" -ge 4 ]
}

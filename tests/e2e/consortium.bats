#!/usr/bin/env bats
# Several real clusters of one consortium: what an organization lends on one is repaid on another.

bats_require_minimum_version 1.5.0
load lib/e2e
load lib/consortium

teardown() { clusters_end; }

# north is ada's, south is bob's, of eight processors each. Ranks go by the work that was given and got.
CLUSTER_NODE_CPUS=(8)
CLUSTER_RANKING="guarantee: 0
running_weight: 0"
owners() {
  printf '%s\n' "organizations:" "  - {name: ada, accounts: [ada]$([ "$1" != north ] || echo ', nodes: [n1]')}" \
    "  - {name: bob, accounts: [bob]$([ "$1" != south ] || echo ', nodes: [n1]')}"
}
configure() { # NAME OTHER PLACE: without OTHER, no consortium
  use_cluster "$1"
  cluster_config "$(owners "$1")" "$(listening "$1")" ${2:+"consortium:
  name: uni
  every: 1s
  clusters:
$(other_cluster "$2" "$3")"}
}

order() { status_json | jq -r '[.organizations[] | select(.name | IN("ada", "bob")) | select(.rank)] | sort_by(.rank) | map(.name) | join(" ")'; }
order_is() { test "$(order)" = "$1"; }
used_is() { status_json | jq -e --argjson cpus "$1" '[.organizations[].used] | add == $cpus'; }

# bob runs on all of ada's cluster for some seconds.
lend_in_the_north() {
  local job
  use_cluster north
  job=$(submit bob -n8 "sleep 6")
  wait_until 60 booked "$job"
  wait_drained 60
  wait_until 30 used_is 0
}

# The plugin has looked at what waits since the last job came.
places_given() { [ "$(squeue -h -t PENDING -o %i | wc -l)" -eq 32 ] && tail -n 50 "$CLUSTER_DIR/log/slurmctld.log" | grep -q "places looked at, 0 priorities to write"; }

# first_starts [ORDER]: once the south orders like that, how many of the first jobs that start in the south are ada's, when both wait for all of it.
first_starts() {
  local i
  use_cluster south
  close_queue
  for i in {1..16}; do
    submit bob -n1 "sleep 1" >/dev/null && submit ada -n1 "sleep 1" >/dev/null || return 1
  done
  [ -z "${1:-}" ] || wait_until 60 order_is "$1"
  wait_until 30 places_given || return 1
  shapleyctl status >&2
  open_queue
  wait_drained 120
  wait_until 30 used_is 0 || return 1
  ledger_sql "SELECT organization FROM segments WHERE kind = 'run' ORDER BY begin, job LIMIT 16" | grep -c ada || true
}

@test "what is lent on one cluster is repaid on another, and without the consortium it is not" {
  clusters_prepare north south
  configure north south "$(tcp_of south)"
  configure south north "$(tcp_of north)"
  clusters_start north south
  lend_in_the_north
  on south wait_until 30 order_is "ada bob"
  run --separate-stderr first_starts "ada bob"
  echo "$stderr"
  echo "with the consortium ada started $output of the first 16"
  [ "$status" -eq 0 ]
  [ "$output" -ge 12 ]
  on south statements_at_least 1
  on north wait_until 30 statements_at_least 1
  for name in north south; do
    use_cluster "$name"
    shapleyctl audit "$CLUSTER_LEDGER" --against "$CLUSTER_JOBCOMP"
  done
}

@test "without a consortium the south serves its owner first" {
  clusters_prepare north south
  configure north
  configure south
  clusters_start north south
  lend_in_the_north
  run --separate-stderr first_starts ""
  echo "$stderr"
  echo "without the consortium ada started $output of the first 16"
  [ "$status" -eq 0 ]
  [ "$output" -le 10 ]
}

@test "a file brings statements too; a forged one and an old one change nothing; a cluster that is away is said, and counts again when it is back" {
  local other
  clusters_prepare north south
  configure north south "$(tcp_of south)"
  configure south north "${_CLUSTER_DIRS[south]}/north.standing"
  clusters_start north south
  other=$CLUSTER_DIR/north.standing
  on north shapleyctl standing --out "$other.first"
  lend_in_the_north
  on north shapleyctl standing --out "$other"
  use_cluster south
  wait_until 30 statements_at_least 1
  wait_until 30 order_is "ada bob"
  log_says() { grep -q "$1" "$CLUSTER_DIR/log/shapleyd.out"; }
  sed 's/"event":/"event":1/' "$other" >"$other.new" && mv "$other.new" "$other"
  wait_until 30 log_says "north: its statement is refused: the signature is not of this text"
  order_is "ada bob"
  cp "$other.first" "$other"
  wait_until 30 log_says "north: its statement is refused: it is of .*, older than the last one"
  order_is "ada bob"
  on north shapleyctl standing --out "$other"
  use_cluster south
  wait_until 30 log_says "north: its statements count again"
  # north asks south over TCP, whose shapleyd goes and comes back.
  on north wait_until 30 statements_at_least 1
  on south shapleyd_kill9
  use_cluster north
  wait_until 30 log_says "south: no statement came"
  order_is "ada bob"
  on south shapleyd_start
  use_cluster north
  wait_until 60 log_says "south: its statements count again"
  # It leaves: from then on the south ranks by its own books.
  use_cluster south
  configure south
  shapleyd_reload
  left() { [ "$(ledger_sql "SELECT count(*) FROM events WHERE kind = 'consortium_declared'")" -eq 2 ]; }
  wait_until 30 left
  shapleyctl audit "$CLUSTER_LEDGER"
}

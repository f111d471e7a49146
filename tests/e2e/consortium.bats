#!/usr/bin/env bats
# Several real clusters of one consortium: what an organization lends on one is repaid on another.

bats_require_minimum_version 1.5.0
load lib/e2e
load lib/consortium

teardown() { clusters_end; }

order() { status_json | jq -r '[.organizations[] | select(.name | IN("ada", "bob")) | select(.rank)] | sort_by(.rank) | map(.name) | join(" ")'; }
order_is() { test "$(order)" = "$1"; }
lend_in_the_north() { lend north bob 6; }

# first_starts [ORDER]: once the south orders like that, how many of the first jobs that start in the south are ada's, when both wait for all of it.
first_starts() {
  local i
  use_cluster south
  close_queue
  for i in {1..16}; do
    submit bob -n1 "sleep 1" >/dev/null && submit ada -n1 "sleep 1" >/dev/null || return 1
  done
  [ -z "${1:-}" ] || wait_until 60 order_is "$1"
  wait_until 30 with_nothing_to_write 32 || return 1
  shapleyctl status >&2
  open_queue
  wait_drained 120
  wait_until 30 used_is 0 || return 1
  ledger_sql "SELECT organization FROM segments WHERE kind = 'run' ORDER BY begin, job LIMIT 16" | grep -c ada || true
}

# What bob got in the north is given back in the south: ada, who waits beside bob for bob's own nodes, starts first.
ada_is_repaid_in_the_south() {
  on south wait_until 30 order_is "ada bob"
  run --separate-stderr first_starts "ada bob"
  echo "$stderr"
  echo "with the consortium ada started $output of the first 16"
  [ "$status" -eq 0 ]
  [ "$output" -ge 12 ]
}

@test "what is lent on one cluster is repaid on another, a third one is in the sum, and all three have the same sum" {
  local name other owed total=0
  CLUSTER_DATABASE=yes CONSORTIUM_STALE_AFTER=10s
  clusters_prepare north south east
  configure_consortium north south "$(tcp_of south)" east "$(tcp_of east)"
  configure_consortium south north "$(tcp_of north)" east "$(tcp_of east)"
  configure_consortium east north "$(tcp_of north)" south "$(tcp_of south)"
  clusters_start north south east
  # By the east alone ada owes bob; bob owes ada more in the north.
  lend east ada 2
  on south wait_until 30 order_is "bob ada"
  lend_in_the_north
  ada_is_repaid_in_the_south
  # Each cluster counts of each other one what Slurm's own records there say.
  for name in north south east; do
    on "$name" wait_until 20 owed_as_recorded "$(owner_of "$name")" ada
    owed=$(owed_here ada)
    echo "$name owes ada $owed processor-seconds"
    total=$((total + owed))
    for other in north south east; do
      [ "$other" = "$name" ] || on "$other" wait_until 60 elsewhere_is "$name" ada "$owed"
    done
  done
  # 16 processor-seconds at least were given back in the south, and as many are what ada got in the east.
  [ "$total" -le $(($(on north owed_here ada) - 32)) ]
  for name in north south east; do
    on "$name" statements_at_least 2
    audit_with_consortium "$name"
  done
}

@test "by hindsight, too, what is lent on one cluster is repaid on another" {
  CONSORTIUM_LINES="contribution: hindsight"
  clusters_prepare north south
  configure_consortium north south "$(tcp_of south)"
  configure_consortium south north "$(tcp_of north)"
  clusters_start north south
  lend_in_the_north
  ada_is_repaid_in_the_south
  for name in north south; do
    on "$name" status_json | jq -e '.ranked_by == "hindsight"'
    audit_with_consortium "$name"
  done
}

@test "without a consortium the south serves its owner first" {
  clusters_prepare north south
  configure_consortium north
  configure_consortium south
  clusters_start north south
  lend_in_the_north
  run --separate-stderr first_starts ""
  echo "$stderr"
  echo "without the consortium ada started $output of the first 16"
  [ "$status" -eq 0 ]
  [ "$output" -le 10 ]
}

@test "a file brings statements too; a forged one and an old one change nothing; a cluster that is away is said, and counts again when it is back" {
  local other before
  clusters_prepare north south
  configure_consortium north south "$(tcp_of south)"
  configure_consortium south north "${_CLUSTER_DIRS[south]}/north.standing"
  clusters_start north south
  other=$CLUSTER_DIR/north.standing
  on north shapleyctl standing --out "$other.first"
  lend_in_the_north
  on north shapleyctl standing --out "$other"
  use_cluster south
  wait_until 30 statements_at_least 1
  wait_until 30 order_is "ada bob"
  log_says() { says_since "${2:-0}" "$CLUSTER_DIR/log/shapleyd.out" "$1"; }
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
  before=$(lines_of "$CLUSTER_DIR/log/shapleyd.out")  # it may have asked the south before that one ran
  on south shapleyd_kill9
  use_cluster north
  wait_until 30 log_says "south: no statement came" "$before"
  order_is "ada bob"
  on south shapleyd_start
  use_cluster north
  wait_until 60 log_says "south: its statements count again" "$before"
  # It leaves: from then on the south ranks by its own books.
  use_cluster south
  configure_consortium south
  shapleyd_reload
  left() { [ "$(ledger_sql "SELECT count(*) FROM events WHERE kind = 'consortium_declared'")" -eq 2 ]; }
  wait_until 30 left
  shapleyctl audit "$CLUSTER_LEDGER"
}

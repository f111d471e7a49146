#!/usr/bin/env bats
# A consortium of several real clusters whose links, clusters and members come and go.

load lib/e2e
load lib/consortium

teardown() {
  use_cluster south
  daemon_signal link CONT 2>/dev/null || true
  daemon_stop link || true
  clusters_end
}

CONSORTIUM_STALE_AFTER=10s

# What the north states is brought to the south as a file by a process that can be stopped: a link on which nothing arrives. (A relay of TCP
# would be refused: a question says which address it is for.)
link_file() { echo "${_CLUSTER_DIRS[south]}/north.standing"; }
link_up() {
  daemon_start link bash -c 'while :; do shapleyctl --socket "$1" standing --out "$2"; sleep 0.5; done' link "${_CLUSTER_DIRS[north]}/run/shapleyd.sock" "$(link_file)"
}

# of_other OTHER FILTER: what status says of another cluster.
of_other() { status_json | jq -er --arg other "$1" ".clusters[] | select(.cluster == \$other) | $2"; }
other_is() { of_other "$1" "$2" >/dev/null; }
is_owed_at_least() { test "$(owed_here "$1")" -ge "$2"; }
seconds_later() { test "$(status_json | jq .at)" -ge $(($1 + 3)); }

@test "a link that is cut, a cluster that restarts, one that joins and one that leaves: figures stand still, are whole again, and audits stay correct" {
  local still owed recorded before then
  clusters_prepare north south east
  configure_consortium north south "$(tcp_of south)"
  configure_consortium south north "$(link_file)"
  configure_consortium east
  clusters_start north south east
  on south link_up
  lend east ada 2
  lend north bob 2
  owed=$(on north owed_here ada)
  on south wait_until 60 elsewhere_is north ada "$owed"

  # bob runs in the north from before the cut on, so that figures would grow on.
  use_cluster north
  job=$(submit bob -n8 "$(until_told enough)")
  wait_until 60 booked "$job"
  on south daemon_signal link STOP
  wait_until 60 other_is north .is_stale
  recorded=$(ledger_sql "SELECT count(*) FROM events WHERE kind = 'standing_received'")
  still=$(owed_elsewhere north ada)
  before=$(status_json | jq .at)
  wait_until 60 seconds_later "$before"
  [ "$(owed_elsewhere north ada)" = "$still" ]
  other_is north .is_stale
  shapleyctl status | grep -q "Others:  north, TOO OLD: stated .* ago: ada is owed .*; that has stood still since .*"
  on north wait_until 60 is_owed_at_least ada $((still + 16))
  owed=$(owed_here ada)
  # The first statement that comes makes the sum whole.
  use_cluster south
  [ "$(ledger_sql "SELECT count(*) FROM events WHERE kind = 'standing_received'")" -eq "$recorded" ]
  daemon_signal link CONT
  wait_until 60 statements_at_least $((recorded + 1))
  [ "$(owed_elsewhere north ada)" -ge "$owed" ]
  wait_until 60 other_is north '.is_stale | not'

  # The north restarts, with a job that goes on.
  use_cluster north
  ctld_stop
  shapleyd_stop
  shapleyd_start
  ctld_start
  wait_until 30 plugin_connected
  wait_until 30 nodes_ready
  tell enough
  ran "$job"
  wait_until 20 owed_as_recorded ada ada
  owed=$(owed_here ada)
  on south wait_until 60 elsewhere_is north ada "$owed"
  other_is north '.fault == null'

  # The east joins with what was lent there before, and the north leaves.
  configure_consortium east south "$(tcp_of south)"
  configure_consortium south north "$(link_file)" east "$(tcp_of east)"
  shapleyd_reload
  wait_until 60 declared_is 2
  on east shapleyd_reload
  on south wait_until 60 elsewhere_is east ada "$(on east owed_here ada)"
  use_cluster south
  wait_until 60 elsewhere_is north ada "$owed"
  then=$(status_json | jq .at)
  wait_until 60 seconds_later "$then"
  configure_consortium south east "$(tcp_of east)"
  shapleyd_reload
  wait_until 60 declared_is 3
  status_json | jq -e '[.clusters[].cluster] == ["east"]'
  configure_consortium north
  shapleyd_reload
  wait_until 60 declared_is 2
  # The past is what it was, and each ledger says since when.
  use_cluster south
  [ "$(shapleyctl status --json --ledger "$CLUSTER_LEDGER" --at "$(date -u -d "@$then" +%FT%TZ)" |
    jq -c '[.clusters[] | [.cluster, (.organizations[] | select(.organization == "ada") | .core_hours * 3600 | round)]]')" = \
    "$(jq -nc --argjson north "$owed" --argjson east "$(on east owed_here ada)" '[["east", $east], ["north", $north]]')" ]
  for name in north south east; do audit_with_consortium "$name"; done
}

#!/usr/bin/env bats
# The life of a site, as docs/operating/life-of-a-site.md describes it: every command of the page is run as it stands there, on a cluster with slurmdbd, and what it
# prints must be what the page shows, except what differs from run to run. What happens in the world between the commands is here.
#
# The page is written again from a run by
#   SHAPLEY_BUILD=build/release PAGE_RECORD=$PWD/docs/operating/life-of-a-site.md bats tests/e2e/site_life.bats
#
# Nothing depends on speed or luck: only bio ever uses nodes of others (jobs of the others are put on their own), so astro, which has twice as many nodes
# as chem, is always owed most and bio always owes; and what must last until something was looked at lasts until `tell`.

load lib/e2e
load lib/monitoring
load lib/page
load lib/past_year

teardown() {
  monitoring_stop || true
  end_cluster
}

# What a host of its own would do: the same unit files' commands, on the private cluster.
systemctl() {
  case "$*" in
    "enable --now shapleyd" | "start shapleyd") shapleyd_start ;;
    "disable --now shapleyd" | "stop shapleyd") shapleyd_stop ;;
    "reload shapleyd") shapleyd --check-config --config "$SITE/etc/shapley/shapleyd.yaml" >/dev/null && shapleyd_reload ;;
    "start shapley-upkeep@"*)
      SHAPLEY_UPKEEP=$SITE/var/lib/shapley-upkeep "$BATS_TEST_DIRNAME/../../packaging/upkeep" "${2#*@}" >"$CLUSTER_DIR/log/upkeep.txt" 2>&1 ;;
    "enable --now slurmctld") ctld_start ;;
    "disable --now slurmctld") between_launches ctld_stop ;;
    "restart slurmctld") ctld_restart ;;
    *) say "systemctl $*: not known here"; return 1 ;;
  esac
}
shapleyd_launch() { daemon_start shapleyd shapleyd --config "$SITE/etc/shapley/shapleyd.yaml"; }

# A cluster with plain multifactor, a partition for each organization beside one for all, and a year behind it.
site_before_adoption() {
  CLUSTER_DATABASE=yes
  CLUSTER_PRIORITY=priority/multifactor
  CLUSTER_EXTRA_CONF="FirstJobId=70001"
  cluster_prepare
  page_open "$BATS_TEST_DIRNAME/../../docs/operating/life-of-a-site.md"
  CLUSTER_LEDGER=$SITE/var/lib/shapley/ledger.db
  export SHAPLEY_SOCKET=$SITE/run/shapley/shapleyd.sock
  printf 'PartitionName=%s Nodes=%s AllowAccounts=%s MaxTime=INFINITE State=UP\n' astro 'n[1-2]' astro,stars,pulsars bio n3 bio,cells chem n4 chem,acids >>"$SLURM_CONF"
  cluster_start
  past_year
}

# What the page says in words.
paths_below_site() { printf 'ledger: %s\nsocket: %s\n' "$CLUSTER_LEDGER" "$SHAPLEY_SOCKET" >>"$SITE/etc/shapley/shapleyd.yaml"; }
priority_lines() {
  sed -i "s|^PriorityType=.*|PriorityType=priority/shapley\nPriorityParameters=socket=$SHAPLEY_SOCKET,interval=$CLUSTER_SCAN_S\nPluginDir=$SHAPLEY_BUILD/lib/slurm:$(_slurm_plugin_dir)|" "$SLURM_CONF"
}

# Below a thousandth of a core-hour a sentence has other words.
amounts_are_seen() {
  status_json | jq -e '([.organizations[] | select(.name != "guests" and .name != "commons") | .standing_core_hours | fabs] | min > 0.005) and
    ([.organizations[] | {(.name): .would_rank}] | add | .astro == 1 and .chem == 2 and .bio == 3 and .guests == 4)'
}
all_wait_for_their_turn() { [ "$(squeue -h -t PENDING -S -p,i -o '%a %r')" = $'astro Resources\nchem Priority\nbio Priority\nbio Priority\npolymers Priority' ]; }
# Where a job runs is else a matter of which node is free first. Not before they wait: of a job that names its nodes Slurm has other reasons.
each_on_its_own() {
  local account node
  while read -r account node; do
    squeue -h -t PENDING -A "$account" -o %A | xargs -I{} scontrol update jobid={} ReqNodeList="$node"
  done <<<$'astro n1\nbio n3\nchem n4\npolymers n4'
}
# How it looks in a browser is tested elsewhere (tests/browser).
report_has_charts() { [ "$(grep -o '<svg' "$1" | wc -l)" -ge 2 ] && grep -q 'astro' "$1"; }
page_has_place() { grep -q "<th scope=\"row\" class=\"text\">$2</th><td class=\"text\">bio</td><td>$3</td>" "$1"; }
rebuilt() { status_json | jq -e '.daemon.rebuild == null'; }
rank_agrees() { shapleyctl explain "$1" --json | jq -e '.priority.agrees'; }
mode_is() { status_json | jq -e --arg mode "$1" '.daemon.mode == $mode'; }
recorded_ends() { [ "$(sacct -a -D -X -P -n -S now-1hour -o End | grep -vc Unknown)" -eq "$1" ]; }

@test "a year of history, observed, ranked, explained, corrected, audited, alerted, moved: each step prints what the documentation shows" {
  wait_until 60 not_at_midnight_of_a_month
  site_before_adoption
  this_month
  page_words+='s#http://localhost:9090#$PROMETHEUS#g'
  walk "Who owns what"
  paths_below_site
  walk "Last year"
  walk "The report for the meeting"
  report_has_charts "$SITE/srv/report/index.html"

  priority_lines
  walk "Observe"
  wait_until 15 plugin_connected
  wait_until 30 nodes_ready
  big=$(submit bio -N4 --exclusive "$(until_told enough)")
  [ "$big" -eq 70001 ]
  wait_until 20 booked "$big"
  wait_until 20 amounts_are_seen
  walk "What the members read"

  walk "Priorities"
  wait_until 10 mode_is priorities
  submit bio -n4 "sleep 2"
  wait_until 10 seconds_passed 1  # so that the other one has waited for longer
  submit bio -n8 "sleep 2"
  submit astro -n8 "sleep 2"
  submit chem -n16 "sleep 2"
  sacctmgr -i add account polymers && sacctmgr -i add user daemon account=polymers
  submit polymers -n16 "sleep 3"
  wait_until 20 all_wait_for_their_turn
  wait_until 20 rank_agrees 70003
  walk "What Slurm makes of it"
  walk "Why is my job waiting?"
  walk "What if?"
  walk "The members' page"
  page_has_place "$SITE/srv/live/index.html" 70003 4
  each_on_its_own
  tell enough
  wait_drained 30
  wait_until 20 recorded_ends 6
  wait_until 20 nothing_open
  walk "A correction"
  wait_until 30 rebuilt
  walk "Corrected"
  walk "A settlement"
  status_json | jq -e '.conservation.holds'

  monitoring_start
  walk "Month's end"
  walk "By themselves"

  wait_until 30 quiet
  shapleyd_stop
  unseen=$(submit bio -n2 -w n3 "sleep 2")
  wait_drained 30
  wait_until 30 firing ShapleyDown
  walk "An alert"
  wait_until 30 quiet
  wait_until 20 health_is 0
  wait_until 20 recorded_ends 7
  wait_until 20 nothing_open "$unseen"
  walk "Quiet again"

  wait_until 10 seconds_passed 11
  walk "Another host"
  mv "$SITE/var/lib/shapley" "$SITE/old-host"
  mkdir -m 0700 "$SITE/var/lib/shapley"
  walk "The new host"
  wait_until 30 plugin_connected
  wait_until 30 nodes_ready
  walk "After the move"
  [ "$(walked)" -eq "$(commands_of_page)" ]
}

#!/usr/bin/env bats
# Two sites of one consortium, as docs/operating/consortium.md describes them: every command of the page is run as it stands there, on two private clusters, and
# what it prints must be what the page shows, except what differs from run to run. What happens in the world between the commands is here.
#
# The page is written again from a run by
#   SHAPLEY_BUILD=build/release PAGE_RECORD=$PWD/docs/operating/consortium.md bats tests/e2e/consortium_walk.bats
#
# Nothing depends on speed: biology gets more of the north than physics can get of the south by a job of three seconds with half of the processors.

load lib/e2e
load lib/consortium
load lib/page

teardown() { clusters_end; }

CLUSTER_NODE_CPUS=(8)

systemctl() {
  case "$*" in
    "enable --now shapleyd") shapleyd_start ;;
    "reload shapleyd") shapleyd --check-config --config "$SITE/etc/shapley/shapleyd.yaml" >/dev/null && shapleyd_reload && wait_until 15 in_force ;;
    *) say "systemctl $*: not known here"; return 1 ;;
  esac
}
shapleyd_launch() { daemon_start shapleyd shapleyd --config "$SITE/etc/shapley/shapleyd.yaml"; }
in_force() { [ "$(status_json | jq -r .daemon.configuration.hash)" = "$(sha256sum <"$SITE/etc/shapley/shapleyd.yaml" | cut -d ' ' -f 1)" ]; }
# slurmctld and shapleyd run as root here; whose the key is on a real host, tests/packaging/consortium.sh tries.
chown() { [ "$1" = slurm: ] && [ -f "$2" ]; }
# scp FROM TO: one of them is HOST:PATH, and HOST is NAME-ctl.
scp() { cp "$(on_its_host "$1")" "$(on_its_host "$2")"; }
on_its_host() { if [[ $1 == *-ctl:* ]]; then echo "${_CLUSTER_DIRS[${1%%-ctl:*}]}/host${1#*:}"; else echo "$1"; fi; }

# at NAME: on the host of that cluster's slurmctld.
at() {
  use_cluster "$1"
  page_host "$CLUSTER_DIR/host"
  CLUSTER_LEDGER=$SITE/var/lib/shapley/ledger.db
  export SHAPLEY_SOCKET=$SITE/run/shapley/shapleyd.sock
}
# begins NAME SECTION: a host with Slurm, the plugin and the file that the section shows, where the section is walked. Jobs last for seconds here, so
# ranks are by the published rule: what runs counts for nothing then, not for as long as the books assume of jobs that are not known.
begins() {
  at "$1"
  sed -i "s|socket=[^,]*shapleyd.sock|socket=$SHAPLEY_SOCKET|" "$SLURM_CONF"
  _start_guard && _cluster_start_daemons
  { printf 'ledger: %s\nsocket: %s\nslurm_user: root\nrule: published\nmunge_socket: %s\n' "$CLUSTER_LEDGER" "$SHAPLEY_SOCKET" "$CLUSTER_DIR/run/munge.socket"
    block_of "$2"; } >"$SITE/etc/shapley/shapleyd.yaml"
  walk "$2"
  wait_until 30 plugin_connected
}
# declares NAME SECTION: what the section shows is added. Statements are read every second, not every minute.
declares() {
  at "$1"
  block_of "$2" | sed 's/^  name: uni/&\n  every: 1s/' >>"$SITE/etc/shapley/shapleyd.yaml"
  walk "$2"
}

ranks_are() { test "$(status_json | jq -r '[.organizations[] | select(.rank)] | sort_by(.rank) | map(.name) | join(" ")')" = "$1"; }
# A rank alone does not show that the statement has come: of equal ones it is by order, too.
owes() { status_json | jq -e --arg name "$1" '.organizations[] | select(.name == $name) | .key_core_hours < 0'; }
all_wait() { [ "$(squeue -h -t PENDING -o %i | wc -l)" -eq "$1" ]; }

@test "two sites from nothing to a common month's end: each step prints what the documentation shows" {
  wait_until 60 not_at_midnight_of_a_month
  clusters_prepare north south
  use_cluster north
  page_open "$BATS_TEST_DIRNAME/../../docs/operating/consortium.md"
  page_words="s/(south-ctl|10\.2\.0\.1):7020/$(tcp_of south)/g
"
  page_words_back="s/$(tcp_of south)/south-ctl:7020/g
s/, every 1 second/, every 1 minute/g"
  this_month

  begins north "The north begins"
  wait_until 10 seconds_passed 1  # the clusters' periods begin at different instants, as on the page
  begins south "The south begins"
  declares north "The north declares"
  declares south "The south declares"
  wait_until 30 statements_at_least 1
  at north
  wait_until 30 statements_at_least 1
  walk "The north asks again"

  lent=$(submit biology -n8 "sleep 10")
  ran "$lent"
  walk "Lent in the north"
  at south
  wait_until 30 owes bio
  wait_until 30 ranks_are "physics bio guests"
  walk "Owed in the south"

  submit bio -n4 "$(until_told first)"
  submit bio -n4 "$(until_told second)"
  wait_until 60 booked 1 2
  submit bio -n4 "sleep 1"
  repaid=$(submit physics -n4 "sleep 3")
  wait_until 30 all_wait 2
  walk "Repaid in the south"
  tell first
  wait_until 60 have_begun "$repaid"
  tell second
  wait_drained 60
  wait_until 30 nothing_open 1 2 3 4
  [ "$(start_order | awk '{ print $2 }' | tr '\n' ' ')" = "1 2 4 3 " ]

  walk "A copy in the south"
  at north
  walk "Audit and statement"
  at south
  walk "A cluster leaves"
  wait_until 30 ranks_are "bio physics guests"
  [ "$(walked)" -eq "$(commands_of_page)" ]
}

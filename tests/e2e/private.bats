#!/usr/bin/env bats
# PrivateData=jobs of a real slurm.conf, with slurmdbd: the users that squeue shows a job to see it from shapleyd, on its own host and over TCP.

load lib/e2e

setup() {
  CLUSTER_DATABASE=yes
  BOOKS_ORGANIZATIONS=$DATABASE_ORGANIZATIONS
  CLUSTER_EXTRA_CONF="AccountingStorageEnforce=associations
PrivateData=jobs,usage"
}

# Users that every Debian has: daemon's are the jobs; of these the first coordinates astro, the second is an operator.
ORDINARY=bin COORDINATOR=sys OPERATOR=games
by() { setpriv --reuid="$1" --regid="$JOB_GID" --clear-groups "${@:2}"; }
here() { by "$1" shapleyctl --timeout 60 "${@:2}"; }
elsewhere() { by "$1" env -u SHAPLEY_SOCKET SHAPLEY_HOST="127.0.0.1:$((CLUSTER_PORT + 29))" shapleyctl --timeout 60 "${@:2}"; }

# same_as_squeue USER: the same jobs, by both ways of asking.
same_as_squeue() {
  by "$1" squeue -h -o %A | sort -n >"$CLUSTER_DIR/squeue.$1"
  for way in here elsewhere; do
    "$way" "$1" jobs --json | jq '.jobs[].job' | sort -n | diff "$CLUSTER_DIR/squeue.$1" - || return 1
  done
}
sees() { [ "$(by "$1" squeue -h -o %a | sort -u | xargs)" = "$2" ] && same_as_squeue "$1"; }

private_cluster() {
  eval "$(declare -f database_accounts | sed '1s/database_accounts/usual_accounts/')"
  database_accounts() {
    usual_accounts
    cat <<USERS
add user $ORDINARY account=bio
add user $COORDINATOR account=chem
add coordinator account=astro names=$COORDINATOR
add user $OPERATOR account=chem adminlevel=Operator
USERS
  }
  cluster_prepare
  three_organizations "listen: 127.0.0.1:$((CLUSTER_PORT + 29))" "munge_socket: $CLUSTER_DIR/run/munge.socket"
  cluster_start
  wait_until 15 plugin_connected
}

@test "another's jobs are shown to those users that squeue shows them to, over the socket and over TCP; sums to all users" {
  private_cluster
  wait_until 10 jobs_are_private
  held=$(submit stars -N4 --exclusive "$(until_told enough)")
  wait_until 20 job_is "$held" RUNNING
  hidden=$(submit bio --job-name=secret "sleep 2")
  cells=$(submit cells "sleep 2")
  own=$(sbatch --parsable --uid="$ORDINARY" --gid="$JOB_GID" --account=bio --chdir=/ --output=/dev/null --wrap="sleep 2")
  wait_until 20 sees root "bio cells stars"
  wait_until 20 sees "$OPERATOR" "bio cells stars"
  wait_until 20 sees daemon "bio cells stars"
  # Coordinators of astro see the accounts below it, and nothing else.
  wait_until 20 sees "$COORDINATOR" stars
  wait_until 20 sees "$ORDINARY" bio
  # Root sees all jobs, and a page for all readers has none of them.
  shapleyctl report --live -o "$CLUSTER_DIR/live"
  grep -q "The jobs are not listed here: jobs are private here" "$CLUSTER_DIR/live/index.html"
  [ "$(here "$ORDINARY" jobs --json | jq -c '[.jobs[].job]')" = "[$own]" ]

  for way in here elsewhere; do
    "$way" "$ORDINARY" explain "$own" >"$CLUSTER_DIR/explanation"
    grep -q "bio has rank" "$CLUSTER_DIR/explanation"
    # The two others of bio are counted; they are not named.
    "$way" "$ORDINARY" explain "$own" --json | jq -e '.own.jobs == 2'
    run "$way" "$ORDINARY" explain "$hidden"
    [ "$status" -ne 0 ]
    grep -q "job $hidden is not in the ledger, or it is another user's" <<<"$output"
    run "$way" "$ORDINARY" explain "$own" --against "$hidden"
    [ "$status" -ne 0 ]
    "$way" "$OPERATOR" explain "$own" --against "$hidden" --json | jq -e '.same_organization'
    "$way" "$ORDINARY" status --json | jq -e '.daemon.privacy.jobs and .daemon.privacy.usage and ([.organizations[].running_jobs] | add) == 1'
  done
  here "$ORDINARY" status | grep '^Private: jobs and usage'

  # The past: what the child reads for them is theirs to see, too.
  tell enough
  wait_drained 60
  wait_until 20 nothing_open "$held" "$hidden" "$cells" "$own"
  drained_at=$(date -u +%FT%TZ)  # what was idle until now differs from second to second
  for way in here elsewhere; do
    [ "$("$way" "$OPERATOR" statement --json | jq -c '[.organizations[].users[].account] | unique')" = '["bio","cells","stars"]' ]
    [ "$("$way" "$COORDINATOR" statement --json | jq -c '[.organizations[].users[].account] | unique')" = '[null,"stars"]' ]
    "$way" "$ORDINARY" statement --json | jq -e --argjson own "$(id -u "$ORDINARY")" '[.organizations[].users[].user_id] | unique == [null, $own]'
    "$way" "$ORDINARY" statement | grep '(others)'
    [ "$("$way" "$OPERATOR" status --users --json | jq -c '[.users.organizations[].users[].account] | unique')" = '["bio","cells","stars"]' ]
    [ "$("$way" "$COORDINATOR" status --users --json | jq -c '[.users.organizations[].users[].account] | unique')" = '[null,"stars"]' ]
    "$way" "$ORDINARY" status --users --json | jq -e --argjson own "$(id -u "$ORDINARY")" '.users.private and ([.users.organizations[].users[].user_id] | unique == [null, $own])'
    "$way" "$ORDINARY" status --users | grep '^Private: '
    diff <("$way" "$ORDINARY" statement -E "$drained_at" --json | jq -S '.organizations[] | del(.users)') <(shapleyctl statement -E "$drained_at" --json | jq -S '.organizations[] | del(.users)')
    "$way" "$ORDINARY" history --by hour --json | jq -e '.rows | length > 0'
  done
  # A report's users are those that its writer may see.
  mkdir -m 777 "$CLUSTER_DIR/page"
  here "$ORDINARY" report --users --no-charts -o "$CLUSTER_DIR/page"
  [ "$(tail -n +2 "$CLUSTER_DIR/page/users.csv" | cut -d , -f 4,5 | sort -u | tr '\n' ' ')" = ",(others) bio,$ORDINARY " ]
}
jobs_are_public() { status_json | jq -e '.daemon.privacy.jobs == false'; }
jobs_are_private() { status_json | jq -e '.daemon.privacy.jobs == true'; }

@test "who becomes a coordinator sees more, and what slurm.conf says counts when it is read again; a restart forgets nothing" {
  private_cluster
  wait_until 10 jobs_are_private
  held=$(submit cells "$(until_told enough)")
  wait_until 20 job_is "$held" RUNNING
  wait_until 20 sees root cells
  wait_until 20 sees "$ORDINARY" ""
  sacctmgr -i add coordinator account=bio names="$ORDINARY" >/dev/null
  wait_until 30 sees "$ORDINARY" cells
  # shapleyd alone knows it still.
  shapleyd_stop
  shapleyd_restart
  wait_until 20 sees "$ORDINARY" cells
  wait_until 20 sees "$COORDINATOR" ""
  sed -i '/^PrivateData=/d' "$SLURM_CONF"
  reconfigure
  wait_until 30 sees "$COORDINATOR" cells
  wait_until 20 jobs_are_public
  tell enough
  wait_drained 30
}

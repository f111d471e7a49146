# Several private clusters of one consortium on this machine, each with a slurmctld, a slurmd, a shapleyd and a munged of its own; their munge keys
# are one. To be sourced after cluster.bash, jobs.bash and books.bash.
#
# With CLUSTER_DATABASE=yes all of them have one slurmdbd, that of the cluster that is prepared first.
#
# Arrays of the shell, not of the function of bats that loads this file. Cluster NAME has all of a private cluster's variables; `on NAME COMMAND...` runs a command with those of NAME.
declare -gA _CLUSTER_DIRS _CLUSTER_PORTS _CLUSTER_CLAIMS
declare -ga _CLUSTERS=()  # in the order in which they were prepared

# on NAME COMMAND...
on() {
  local name=$1
  shift
  use_cluster "$name"
  "$@"
}
use_cluster() {
  CLUSTER_DIR=${_CLUSTER_DIRS[$1]} CLUSTER_PORT=${_CLUSTER_PORTS[$1]} CLUSTER_CLAIM=${_CLUSTER_CLAIMS[$1]}
  CLUSTER_LEDGER=$CLUSTER_DIR/ledger.db CLUSTER_JOBCOMP=$CLUSTER_DIR/log/jobcomp.txt
  export SLURM_CONF=$CLUSTER_DIR/slurm.conf SHAPLEY_SOCKET=$CLUSTER_DIR/run/shapleyd.sock SHAPLEY_TEST_CLUSTER=$CLUSTER_DIR
}

# clusters_prepare NAME...: directories, keys and slurm.conf; nothing runs yet.
clusters_prepare() {
  local name first
  for name; do
    unset CLUSTER_DIR
    cluster_prepare || return 1
    _CLUSTER_DIRS[$name]=$CLUSTER_DIR _CLUSTER_PORTS[$name]=$CLUSTER_PORT _CLUSTER_CLAIMS[$name]=$CLUSTER_CLAIM
    _CLUSTERS+=("$name")
    first=${_CLUSTERS[0]}
    sed -i -e "s/^ClusterName=.*/ClusterName=$name/" -e "s/^AccountingStoragePort=.*/AccountingStoragePort=$((_CLUSTER_PORTS[$first] + 31))/" "$SLURM_CONF"
    [ "$name" = "$first" ] || cp -p "${_CLUSTER_DIRS[$first]}/run/munge.key" "$CLUSTER_DIR/run/munge.key"
    shapleyctl keygen "$CLUSTER_DIR/head.key" >/dev/null || return 1
  done
}
# Made by the slurmdbd of all, before the first slurmctld starts.
database_accounts() {
  printf '%s\n' "add cluster $(IFS=,; echo "${_CLUSTERS[*]}")" "add account ada,bob" "add user daemon account=ada,bob"
}

# clusters_start NAME...: the first one that was prepared, before others, if there is a slurmdbd.
clusters_start() {
  local name CLUSTER_DATABASE=$CLUSTER_DATABASE with_database=$CLUSTER_DATABASE
  for name; do
    use_cluster "$name"
    CLUSTER_DATABASE=$([ "$name" = "${_CLUSTERS[0]}" ] && echo "$with_database" || echo no)
    _start_guard && _cluster_start_daemons && wait_until 15 plugin_connected && continue
    say "cluster $name did not start; its logs: $CLUSTER_DIR/log"
    return 1
  done
}
# federate NAME: all clusters, which run, are a federation; a cluster's number in it is its place in the order of preparing. A slurmctld that starts
# later than the federation is made is not known to the others before slurmdbd tells them again.
federate() {
  sacctmgr -i add federation "$1" clusters="$(IFS=,; echo "${_CLUSTERS[*]}")" >"$CLUSTER_DIR/log/federation.out" || return 1
  local name
  for name in "${_CLUSTERS[@]}"; do on "$name" wait_until 60 _federated || return 1; done
}
_federated() { [ "$(scontrol show federation | grep -c "Sibling:.*PersistConnSend/Recv:Yes/Yes Synced:Yes")" -eq $((${#_CLUSTERS[@]} - 1)) ]; }
clusters_end() {
  local i stopped=0
  for ((i = ${#_CLUSTERS[@]} - 1; i >= 0; --i)); do  # the slurmdbd of all last
    use_cluster "${_CLUSTERS[i]}"
    end_cluster || stopped=1
  done
  return "$stopped"
}

# other_cluster NAME PLACE: the lines of shapleyd.yaml that name it.
other_cluster() {
  printf '    - {name: %s, standing: "%s", public_key: %s, stale_after: %s}\n' "$1" "$2" "${_CLUSTER_DIRS[$1]}/head.key.pub" "$CONSORTIUM_STALE_AFTER"
}
# tcp_of NAME: where its shapleyd listens.
tcp_of() { echo "127.0.0.1:$((${_CLUSTER_PORTS[$1]} + 29))"; }
listening() { printf 'listen: %s\nmunge_socket: %s\nsigning_key: %s\n' "$(tcp_of "$1")" "$CLUSTER_DIR/run/munge.socket" "$CLUSTER_DIR/head.key"; }

# Of eight processors each; north is ada's, all others are bob's.
CLUSTER_NODE_CPUS=(8)
owner_of() { [ "$1" = north ] && echo ada || echo bob; }
owners() {
  local name
  echo "organizations:"
  for name in ada bob; do echo "  - {name: $name, accounts: [$name]$([ "$(owner_of "$1")" != "$name" ] || echo ', nodes: [n1]')}"; done
}

# lend CLUSTER ORGANIZATION SECONDS: it runs on all of that cluster.
lend() {
  local job
  use_cluster "$1"
  job=$(submit "$2" -n8 "sleep $3")
  ran "$job"
}
# ran JOB...: waits until they have, by Slurm and by the books, and nothing runs any more. A run of some seconds may be over before a look finds it.
ran() {
  wait_drained 60 && wait_until 30 nothing_open "$@" && wait_until 30 used_is 0
}
used_is() { status_json | jq -e --argjson cpus "$1" '[.organizations[].used] | add == $cpus'; }

# configure_consortium NAME [OTHER PLACE]...: shapleyd.yaml; with no other cluster it is in no consortium.
# CONSORTIUM_LINES: further lines of the file; CONSORTIUM_STALE_AFTER: of every other cluster.
CONSORTIUM_LINES="" CONSORTIUM_STALE_AFTER=auto
configure_consortium() {
  local others=""
  use_cluster "$1"
  while [ $# -ge 3 ]; do
    others+=$(other_cluster "$2" "$3")$'\n'
    set -- "$1" "${@:4}"
  done
  cluster_config "$(owners "$1")" "$(listening "$1")" ${CONSORTIUM_LINES:+"$CONSORTIUM_LINES"} ${others:+"consortium:
  name: uni
  every: 1s
  clusters:
$others"}
}

# statements_at_least COUNT: of other clusters, recorded in this cluster's ledger.
statements_at_least() { test "$(ledger_sql "SELECT count(*) FROM events WHERE kind = 'standing_received'")" -ge "$1"; }
declared_is() { test "$(ledger_sql "SELECT count(*) FROM events WHERE kind = 'consortium_declared'")" -eq "$1"; }

# ---- what organizations are owed: given less got, in processor-seconds ------------------------------------------------

# owed_elsewhere OTHER ORGANIZATION: on another cluster, as far as ranks here count it; no output: nothing is known of it.
owed_elsewhere() {
  status_json | jq -r --arg other "$1" --arg name "$2" '.clusters[] | select(.cluster == $other) | .organizations[] | select(.organization == $name) | .core_hours * 3600 | round'
}
# owed_here ORGANIZATION: by this cluster's own books.
owed_here() { status_json | jq -r --arg name "$1" '.organizations[] | select(.name == $name) | (.given_core_hours - .got_core_hours) * 3600 | round'; }
elsewhere_is() { test "$(owed_elsewhere "$1" "$2")" = "$3"; }
# owed_by_slurm OWNER ORGANIZATION: here by jobcomp's records, where OWNER owns all nodes and contributions are direct.
owed_by_slurm() {
  recorded_runs | awk -v owner="$1" -v name="$2" '
    function instant(text) { gsub(/[-T:]/, " ", text); return mktime(text) }
    $5 != owner { work = $4 * (instant($3) - instant($2)); sum += name == owner ? work : $5 == name ? -work : 0 }
    END { print sum + 0 }'
}

# owed_as_recorded OWNER ORGANIZATION: the books have the same. A record is there some time after the end of its job.
owed_as_recorded() { [ "$(owed_here "$2")" -eq "$(owed_by_slurm "$1" "$2")" ]; }

# audit_with_consortium NAME: its books, its runs by Slurm's records, if there are any, and each statement against the ledgers of all others, by signature, too; nothing
# may be missing.
audit_with_consortium() {
  local name arguments=()
  for name in "${_CLUSTERS[@]}"; do
    [ "$name" = "$1" ] || arguments+=(--consortium "${_CLUSTER_DIRS[$name]}/ledger.db" --consortium-key "${_CLUSTER_DIRS[$name]}/head.key.pub")
  done
  use_cluster "$1"
  [ ! -s "$CLUSTER_JOBCOMP" ] || arguments+=(--against "$CLUSTER_JOBCOMP")
  shapleyctl audit "$CLUSTER_LEDGER" "${arguments[@]}"
}

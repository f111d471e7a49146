#!/usr/bin/env bats
# Questions from any node: over TCP, by ordinary users, as munge identifies them.

load lib/e2e

# as_user COMMAND...: as the user whose jobs these are, who can read neither the ledger nor the socket's directory.
as_user() { setpriv --reuid "$JOB_UID" --regid "$JOB_GID" --clear-groups "$@"; }
# What a login node has: Slurm's configuration, and no socket.
on_login_node() { as_user env -u SHAPLEY_SOCKET "$@"; }

listening_cluster() {
  cluster_prepare
  three_organizations "listen: 127.0.0.1:$((CLUSTER_PORT + 29))" "munge_socket: $CLUSTER_DIR/run/munge.socket"
  cluster_start
  wait_until 15 plugin_connected
  export SHAPLEY_HOST=127.0.0.1:$((CLUSTER_PORT + 29))
}

@test "a user of another node reads books, jobs and the past; nothing that needs root" {
  listening_cluster
  jobs=$(plain_load 6)
  wait_drained 60
  wait_until 20 nothing_open $jobs
  on_login_node shapleyctl status | grep -q '^Books: *balanced'
  [ "$(on_login_node shapleyctl status --json | jq -r .daemon.pid)" = "$(status_json | jq -r .daemon.pid)" ]
  [ "$(on_login_node shapleyctl jobs -a -n | wc -l)" -ge 6 ]
  # The ledger is root's alone; the daemon has it read.
  chmod 600 "$CLUSTER_LEDGER"
  at=$(date -u +%Y-%m-%dT%H:%M:%S)
  on_login_node shapleyctl status --at "$at" -P >"$CLUSTER_DIR/remote.txt"
  shapleyctl status --ledger "$CLUSTER_LEDGER" --at "$at" -P >"$CLUSTER_DIR/own.txt"
  cmp "$CLUSTER_DIR/remote.txt" "$CLUSTER_DIR/own.txt"
  as_user shapleyctl --socket "$SHAPLEY_SOCKET" status --at "$at" -P | cmp - "$CLUSTER_DIR/own.txt"
  # The page, too, except the audit, which is of a file that is named.
  install -d -o "$JOB_UID" "$CLUSTER_DIR/page"
  on_login_node shapleyctl report --no-charts -o "$CLUSTER_DIR/page"
  grep -q "No audit was made for this page: the figures are the daemon&#39;s; shapleyctl report --ledger FILE" "$CLUSTER_DIR/page/index.html"
  shapleyctl report --ledger "$CLUSTER_LEDGER" --no-charts -o "$CLUSTER_DIR/own"
  grep -q "Correct to the last unit" "$CLUSTER_DIR/own/index.html"
  run on_login_node shapleyctl begin
  [ "$status" -eq 4 ]
  grep -q "may ask 'begin'" <<<"$output"
  run on_login_node shapleyctl backup "$CLUSTER_DIR/copy.db"
  [ "$status" -eq 3 ]
  grep -q "the ledger is a file on shapleyd's host" <<<"$output"
}

@test "the host is found in a configuration and in slurm.conf; who answers must be root or SlurmUser" {
  listening_cluster
  unset SHAPLEY_HOST
  printf 'host: [127.0.0.1:1, 127.0.0.1:%s]\nslurm_user: root\nmunge_socket: %s\n' \
    $((CLUSTER_PORT + 29)) "$CLUSTER_DIR/run/munge.socket" >"$CLUSTER_DIR/shapleyctl.yaml"
  SHAPLEYCTL_CONFIG=$CLUSTER_DIR/shapleyctl.yaml on_login_node shapleyctl status | grep -q '^Plugin: *connected'
  # Port 7020 of SlurmctldHost: no process listens there, and the message says why it was asked.
  sed 's/^SlurmctldHost=.*/SlurmctldHost=another(127.0.0.9)/' "$SLURM_CONF" >"$CLUSTER_DIR/login.conf"
  run env -u SHAPLEY_SOCKET SLURM_CONF="$CLUSTER_DIR/login.conf" shapleyctl status
  [ "$status" -eq 3 ]
  grep -q "cannot reach shapleyd over TCP: .*:7020 .*SlurmctldHost in $CLUSTER_DIR/login.conf" <<<"$output"
  # On slurmctld's own host it is the socket that is missing, which an orderly stop removes.
  run env -u SHAPLEY_SOCKET shapleyctl status
  [ "$status" -eq 3 ]
  grep -q "no shapleyd runs on this host, which is slurmctld's by SlurmctldHost in $SLURM_CONF" <<<"$output"
  run env -u SHAPLEY_SOCKET shapleyctl audit
  [ "$status" -eq 3 ]
  grep -q "no shapleyd runs on this host.* name the file" <<<"$output"
  # The same place with another user behind it is not believed.
  shapleyd_stop
  answer_as_nobody &
  liar=$!
  wait_until 10 port_is_taken
  run env SHAPLEYCTL_CONFIG="$CLUSTER_DIR/shapleyctl.yaml" env -u SHAPLEY_SOCKET shapleyctl status
  kill "$liar" 2>/dev/null || true
  [ "$status" -eq 3 ]
  grep -q "which is not trusted to" <<<"$output"
}

port_is_taken() { ss -Hltn "sport = :$((CLUSTER_PORT + 29))" | grep -q .; }
# Says that it runs as an ordinary user, that the question is to be sealed for.
answer_as_nobody() {
  python3 - "$((CLUSTER_PORT + 29))" "$JOB_UID" <<'PY'
import socket, sys
listener = socket.create_server(("127.0.0.1", int(sys.argv[1])))
greeting = f"shapley-tcp-2 00 {sys.argv[2]}".encode()
connection, _ = listener.accept()
connection.sendall(len(greeting).to_bytes(4, "big") + greeting)
connection.recv(1)
PY
}

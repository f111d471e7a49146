#!/usr/bin/env bash
# serves.sh SHAPLEY_EXPORTER: the program over HTTP, without a daemon; promtool has nothing to say about the names.
# (With a daemon: tests/e2e/monitoring.bats.)
set -euo pipefail
exporter=$1
folder=$(mktemp -d)
pid=""
trap '[[ -z $pid ]] || kill "$pid" 2>/dev/null || true; rm -rf "$folder"' EXIT
die() { echo "serves: $*"; cat "$folder"/log* 2>/dev/null || true; exit 1; }
command -v promtool >/dev/null || die "no promtool: apt install prometheus"

"$exporter" --socket "$folder/no-socket" --listen 127.0.0.1:0 2>"$folder/log" &
pid=$!
for ((i = 0; i < 600; ++i)); do grep -q "serves /metrics" "$folder/log" && break; sleep 0.1; done
port=$(sed -n 's/.*, port //p' "$folder/log")
[[ $port -gt 0 ]] || die "does not say where it serves"
# Bash's own way to a socket: no further program is needed. HTTP/1.0, so that the answer ends with the connection.
scrape() {
  exec 3<>"/dev/tcp/127.0.0.1/$port"
  printf 'GET %s HTTP/1.0\r\n\r\n' "${1:-/metrics}" >&3
  timeout 60 cat <&3
  exec 3<&- 3>&-
}
scrape >"$folder/first"
scrape >"$folder/answer"
head -n 1 "$folder/answer" | grep -q ' 200 ' || die "a daemon that is away is an error page: $(head -n 1 "$folder/answer")"
tr -d '\r' <"$folder/answer" | sed '1,/^$/d' >"$folder/metrics"
grep -qx 'shapley_up 0' "$folder/metrics" || die "no shapley_up 0"
! grep -qE '^shapley_(organization|plugin|ledger)' "$folder/metrics" || die "something is shown of a daemon that is away"
promtool check metrics <"$folder/metrics" || die "promtool check metrics"
# Another page, and a client that says nothing: neither keeps a scraper out.
exec 4<>"/dev/tcp/127.0.0.1/$port"
printf 'GET /metrics HTTP/1.0' >&4
scrape / >"$folder/other"
head -n 1 "$folder/other" | grep -q ' 404 ' || die "another page: $(head -n 1 "$folder/other")"
scrape >"$folder/beside"
exec 4<&- 4>&-
grep -q '^shapley_up 0' "$folder/beside" || die "a silent client keeps a scraper out"
[[ $(grep -c "cannot reach shapleyd" "$folder/log") -eq 1 ]] || die "not one line about the daemon that is away"

code=0
"$exporter" --socket "$folder/no-socket" --listen "127.0.0.1:$port" 2>"$folder/log2" || code=$?
[[ $code -eq 4 ]] || die "an address in use: exit code $code"
# A port of all addresses, a name, a list of places, nonsense.
for wrong in "" 9753 :9753 localhost:0 127.0.0.1 127.0.0.1:0,127.0.0.1:0 127.0.0.1:x 192.0.2.1:9753; do
  code=0
  timeout 60 "$exporter" --socket "$folder/no-socket" --listen "$wrong" 2>"$folder/log3" || code=$?
  [[ $code -eq 4 ]] || die "--listen '$wrong': exit code $code"
done
code=0
"$exporter" --timeout 0 2>/dev/null || code=$?
[[ $code -eq 2 ]] || die "a faulty command line: exit code $code"
# Into files: grep -q leaves at its first match, and who still writes into the pipe then is ended by SIGPIPE, which pipefail reports.
"$exporter" --socket "$folder/no-socket" --print >"$folder/printed" 2>/dev/null || die "--print: exit code $?"
grep -qx 'shapley_up 0' "$folder/printed" || die "--print"
"$exporter" --list >"$folder/list" || die "--list: exit code $?"
grep -q '^| `shapley_up` | gauge | ' "$folder/list" || die "--list"

kill -TERM "$pid"
code=0
wait "$pid" || code=$?
pid=""
[[ $code -eq 0 ]] || die "ended by SIGTERM with $code"
echo "serves: port $port, $(grep -vc '^#' "$folder/metrics") samples of a daemon that is away"

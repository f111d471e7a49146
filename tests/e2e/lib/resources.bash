# What a process holds, read from /proc. To be sourced.

# resources PID: "DESCRIPTORS THREADS KIB", the last being anonymous resident memory (heap and stacks; no file pages, which come
# and go with the page cache).
resources() {
  local descriptors=(/proc/"$1"/fd/*)
  awk -v descriptors="${#descriptors[@]}" '
    /^Threads:/ { threads = $2 } /^RssAnon:/ { kib = $2 } END { print descriptors, threads, kib }' "/proc/$1/status"
}

# no_more_than "DESCRIPTORS THREADS ..." PID: a process holds no more than that when it is quiet. An RPC's thread may linger: to be waited for.
no_more_than() {
  local descriptors threads descriptors_now threads_now _
  read -r descriptors threads _ <<<"$1"
  read -r descriptors_now threads_now _ <<<"$(quiet_resources "$2")"
  ((descriptors_now <= descriptors && threads_now <= threads))
}

# quiet_resources PID: the same when nothing is under way: the least of ten looks in three seconds, because an RPC holds a
# descriptor and a thread for a moment.
quiet_resources() {
  for _ in {1..10}; do
    resources "$1"
    sleep 0.3
  done | awk '
    NR == 1 { descriptors = $1; threads = $2; kib = $3 }
    { if ($1 < descriptors) descriptors = $1; if ($2 < threads) threads = $2; if ($3 < kib) kib = $3 }
    END { print descriptors, threads, kib }'
}

# The order in which pending jobs start, compared with the organizations' ranks. To be sourced after e2e.bash.

# lend: bio's job occupies both nodes of astro for three seconds, so that afterwards astro is owed, chem is even, bio owes.
lend() {
  local job
  job=$(submit bio -N2 --nodelist=n1,n2 --exclusive "sleep 3")
  wait_until 20 job_is "$job" COMPLETED
  wait_drained 20
  wait_until 10 ranked_is "astro chem bio"
}

# submit_interleaved COUNT: COUNT jobs of each organization, worst rank first, while the queue is closed.
submit_interleaved() {
  local i
  for ((i = 0; i < $1; ++i)); do submit bio "sleep 1" && submit chem "sleep 1" && submit astro "sleep 1" || return 1; done >/dev/null
}

# started FILE: the account of every start that is in FILE of job ids, in order of start.
started() { start_order | awk 'NR == FNR { account[$1] = $2; next } $2 in account { print $2, account[$2] }' "$1" -; }

# inversions ORDER: reads "JOB ACCOUNT" lines in order of start; counts pairs in which a worse organization, or a later job of the
# same organization, came first.
inversions() {
  awk -v order="$1" '
    BEGIN { n = split(order, name); for (i in name) place[name[i]] = i }
    { key = place[$2] * 1e9 + $1; for (i = 1; i < NR; ++i) bad += seen[i] > key; seen[NR] = key }
    END { print bad + 0 }'
}


#!/usr/bin/env bats
# Under a stream of starts the order within an organization stays Slurm's own: beside the same stream under stock priority/multifactor.

load lib/e2e
load lib/serving

# stream PLUGIN: a backlog of forty jobs of each of four organizations, and then fifty more of each while jobs of one processor start some five times a
# second. Prints how many started and how many of them before an older job of their organization. A job number is as old as its submission.
stream() {
  local name i
  CLUSTER_NODE_CPUS=(16 16) CLUSTER_RANKING="" CLUSTER_PRIORITY=$1
  cluster_prepare
  if [ "$1" != priority/multifactor ]; then
    cluster_config "organizations:" "  - {name: astro, accounts: [astro], nodes: [n1]}" "  - {name: bio, accounts: [bio], nodes: [{nodes: n2, share: 1/2}]}" \
      "  - {name: chem, accounts: [chem], nodes: [{nodes: n2, share: 1/2}]}" "  - {name: arts, accounts: [arts]}"
  fi
  cluster_start
  if [ "$1" != priority/multifactor ]; then wait_until 15 plugin_connected; fi
  close_queue
  for ((i = 0; i < 40; ++i)); do submit_one_each "$i"; done
  open_queue
  for ((i = 0; i < 50; ++i)); do
    submit_one_each "$i"
    sleep 0.5
  done
  squeue -h -t all -o '%A %a' | sort -n >"$CLUSTER_DIR/jobs"
  start_order | awk 'NR == FNR { organization[$1] = $2; next } $2 in organization { print $2, organization[$2] }' "$CLUSTER_DIR/jobs" - >"$CLUSTER_DIR/started"
  awk '
    NR == FNR { queue[$2, ++asked[$2]] = $1; next }
    {
      ++starts
      began[$1] = 1
      while (queue[$2, first[$2] + 1] in began) ++first[$2]
      if (first[$2] < asked[$2] && queue[$2, first[$2] + 1] < $1) ++early
    }
    END { print starts + 0, early + 0 }' "$CLUSTER_DIR/jobs" "$CLUSTER_DIR/started" >"$BATS_TEST_TMPDIR/count"
  cluster_stop
  cluster_discard
  cat "$BATS_TEST_TMPDIR/count"
}
submit_one_each() {
  local name
  for name in astro bio chem arts; do submit "$name" -n 1 "sleep $((3 + ($1 + ${#name}) % 7))" >/dev/null || return 1; done
}

@test "a stream of starts: jobs of one organization start in the order of their submission as under stock multifactor" {
  stream priority/multifactor >"$BATS_TEST_TMPDIR/stock"
  stream priority/shapley >"$BATS_TEST_TMPDIR/ours"
  read -r starts_stock early_stock <"$BATS_TEST_TMPDIR/stock"
  read -r starts early <"$BATS_TEST_TMPDIR/ours"
  echo "stock: $early_stock of $starts_stock starts came before an older job of the organization; ours: $early of $starts"
  [ "$starts_stock" -ge 100 ]
  [ "$starts" -ge 100 ]
  [ $((early * starts_stock * 5)) -le $(((early_stock + 5) * starts * 6)) ]
}

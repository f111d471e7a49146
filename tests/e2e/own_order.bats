#!/usr/bin/env bats
# Under a stream of starts the order within an organization stays Slurm's own: beside the same stream under stock priority/multifactor.

load lib/e2e
load lib/serving
load lib/gate

# stream PLUGIN: thirty times eight jobs of one processor end together and eight others start in one pass, while each of four organizations submits two more
# and the leads change, so that organizations pass each other. Prints how many started, and how many of them before an older job of their organization;
# a job number is as old as its submission.
stream() {
  local step organizations=(astro bio chem arts) ours=no
  [ "$1" = priority/multifactor ] || ours=yes
  CLUSTER_NODE_CPUS=(16 16) CLUSTER_RANKING="" CLUSTER_PRIORITY=$1
  cluster_prepare
  if [ "$ours" = yes ]; then
    cluster_config "organizations:" "  - {name: astro, accounts: [astro], nodes: [n1]}" "  - {name: bio, accounts: [bio], nodes: [{nodes: n2, share: 1/2}]}" \
      "  - {name: chem, accounts: [chem], nodes: [{nodes: n2, share: 1/2}]}" "  - {name: arts, accounts: [arts]}"
  fi
  cluster_start
  prepare_gate
  if [ "$ours" = yes ]; then wait_until 15 plugin_connected; fi
  close_queue
  for ((step = 0; step < 9; ++step)); do submit_two_each; done
  open_queue
  for ((step = 0; step < 30; ++step)); do
    wait_until 60 holds_at_least 32
    [ "$ours" = no ] || gets_ahead "${organizations[step % 4]}" "$((1 + step / 4))"
    submit_two_each
    end_together $(squeue -h -t RUNNING -o %A | sort -n | head -n 8)
  done
  wait_until 60 holds_at_least 32
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
# gets_ahead NAME CORE_HOURS
gets_ahead() {
  shapleyctl adjust --amount "$2h" --from "$1" --to commons --at "$(date -u +%Y-%m-%dT%H:%M:%S)" --reason "a lead" --yes >/dev/null
}
submit_two_each() {
  local name
  for name in astro astro bio bio chem chem arts arts; do submit "$name" -n 1 "$(until_together)" >/dev/null || return 1; done
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

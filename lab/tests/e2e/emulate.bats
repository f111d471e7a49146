#!/usr/bin/env bats
# ./dev emulate: a short window on a real slurmctld under two policies, and its verdicts.

load ../../../tests/e2e/lib/e2e

# made_trace: one user floods the cluster; ten seconds later three others send few jobs, in turns.
made_trace() {
  local job=0 i user
  row() { echo "$((++job)) $1 -1 $2 $3 -1 -1 -1 -1 -1 1 $4 1 -1 -1 -1 -1 -1"; }
  echo '; MaxProcs: 8'
  for ((i = 0; i < 10; ++i)); do row "$i" 6 8 1; done
  for ((i = 10; i < 40; i += 6)); do for user in 2 3 4; do row "$i" 5 2 "$user"; done; done
}

verdict() { jq -r --arg policy "$1" ".verdicts[] | select(.policy == \$policy) | $2" "$BATS_TEST_TMPDIR/verdicts"; }

# Bounds are wide, because a busy machine starts jobs late. First come first served lets the three wait for nearly a minute.
@test "a window on a real slurmctld is judged, and the default rule stays near its own simulation" {
  made_trace >"$BATS_TEST_TMPDIR/made.swf"
  "$BATS_TEST_DIRNAME/../../emulate/emulate" --trace "$BATS_TEST_TMPDIR/made.swf" --begin 0 --length 90 --owned 2,2,2,2 --factor 1 \
    --policies fifo,direct_contr --at-once 2 --out "$BATS_TEST_TMPDIR/out" --json >"$BATS_TEST_TMPDIR/verdicts" 3>&-
  cat "$BATS_TEST_TMPDIR/verdicts"
  for policy in fifo direct_contr; do
    [ "$(verdict "$policy" .runs)" = 110 ]
    [ "$(verdict "$policy" '.starts >= 40')" = true ]
  done
  [ "$(verdict fifo .written_a_start)" = 0 ]
  [ "$(verdict direct_contr '.written_a_start > 0')" = true ]
  fifo=$(verdict fifo .unfairness)
  [ "$(verdict fifo '.unfairness > 8 and .fidelity < 8')" = true ]
  [ "$(verdict direct_contr ".fidelity < 0.1 * $fifo + 8 and .unfairness < $fifo")" = true ]
  # Recordings that are there are judged again, without a cluster, by the rule that they name.
  run shapley-sim judge "$BATS_TEST_TMPDIR"/out/*/fifo.json
  [ "$status" -eq 0 ]
  [[ ${lines[2]} == fifo* ]]
}

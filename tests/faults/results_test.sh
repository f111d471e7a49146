#!/usr/bin/env bash
# What `nightly` counts: the sums over blocks, where the next block begins, and when enough is reached.
set -euo pipefail
here=$(dirname "$(readlink -f "$0")")
source "$here/lib/results.bash"
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
wrong() { echo "faults_results: $*" >&2; exit 1; }
block() {  # block SEED SHAPLEYD SLURMCTLD BOTH RUNS: as `run` prints it
  printf '%s\n' "round 1 of 2: compared 3" "round 2 of 2: compared $5" "2 rounds, seed $1, 9 s" "  SIGKILL of both                  $4" \
    "  SIGKILL of shapleyd              $2" "  SIGKILL of slurmctld             $3" "  ledger's disk full               7" \
    "runs compared $5, differences 0" >"$dir/block-$1.log"
}

touch "$dir/blocks"
[ "$(next_seed "$dir" 2)" = 1 ] || wrong "the first seed"
! reached "$dir" 1 0 || wrong "nothing is enough"
block 1 30 4 2 100
add_block "$dir" 1 abc 60 0
block 3 10 1 0 50
add_block "$dir" 3 abc+ 40 1
[ "$(cat "$dir/blocks")" = $'1 abc 2 60 0 32 6 100\n3 abc+ 2 40 1 10 1 50' ] || wrong "the blocks: $(cat "$dir/blocks")"
[ "$(next_seed "$dir" 2)" = 5 ] || wrong "the next seed"
reached "$dir" 42 7 || wrong "42 and 7 are reached"
! reached "$dir" 43 7 || wrong "43 are not reached"
! reached "$dir" 42 8 || wrong "8 are not reached"
write_results "$dir"
for row in "| blocks with a difference | 1 |" "| runs compared | 150 |" "| SIGKILL of shapleyd, both daemons included | 42 |" \
  "| SIGKILL of slurmctld, both daemons included | 7 |" "| SIGKILL of both | 2 |" "| ledger's disk full | 14 |"; do
  grep -qxF "$row" "$dir/results.md" || { cat "$dir/results.md"; wrong "no row: $row"; }
done
[ "$(claim_seed "$dir" 2) $(claim_seed "$dir" 2)" = "5 7" ] || wrong "a seed is given out once"
block 7 0 0 0 0
add_block "$dir" 7 abc 1 0
[ "$(claim_seed "$dir" 2)" = 9 ] || wrong "a seed behind the blocks that ended earlier"

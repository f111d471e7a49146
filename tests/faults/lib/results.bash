# What a long run of faults has reached, over all of its blocks. To be sourced by `nightly`.
#
# DIR/blocks has a line of each block: SEED COMMIT ROUNDS SECONDS STATUS SHAPLEYD SLURMCTLD RUNS, the last three being the SIGKILLs of each (those of
# both daemons count for both) and the runs that were compared. A block that failed prints no summary, so it
# counts none.

# injected LOG NAME: how often, by the summary.
injected() { awk -v name="$2" '{ count = $NF; sub(/ +[0-9]+$/, ""); sub(/^ +/, "") } $0 == name { n = count } END { print n + 0 }' "$1"; }
kills_of() { echo $(($(injected "$1" "SIGKILL of $2") + $(injected "$1" "SIGKILL of both"))); }

# add_block DIR SEED COMMIT SECONDS STATUS
add_block() {
  local log=$1/block-$2.log
  printf '%d %s %d %d %d %d %d %d\n' "$2" "$3" "$(grep -c '^round .*compared' "$log")" "$4" "$5" "$(kills_of "$log" shapleyd)" \
    "$(kills_of "$log" slurmctld)" "$(sed -nE 's/^runs compared ([0-9]+),.*/\1/p' "$log" | head -n 1)" >>"$1/blocks"
}

# next_seed DIR ROUNDS: round i of seed S is the first of S+i-1, so blocks are as far apart as they are long.
next_seed() { awk -v rounds="$2" '$1 + rounds > next_one { next_one = $1 + rounds } END { print next_one ? next_one : 1 }' "$1/blocks"; }

# claim_seed DIR ROUNDS: the next seed, which no other call gets: DIR/claimed has the last one that was given out, the file's lock the turn.
claim_seed() {
  local seed claimed
  exec {claims}<>"$1/claimed"
  flock "$claims"
  seed=$(next_seed "$1" "$2")
  claimed=$(cat "$1/claimed")
  [ -z "$claimed" ] || [ "$seed" -gt "$claimed" ] || seed=$((claimed + $2))
  echo "$seed" >"$1/claimed"
  exec {claims}>&-
  echo "$seed"
}

# reached DIR SHAPLEYD SLURMCTLD
reached() { awk -v a="$2" -v b="$3" '{ shapleyd += $6; slurmctld += $7 } END { exit !(shapleyd >= a && slurmctld >= b) }' "$1/blocks"; }

# write_results DIR: DIR/results.md, sums over the blocks and of each kind of fault.
write_results() {
  {
    awk '{ ++blocks; rounds += $3; seconds += $4; bad += $5 != 0; shapleyd += $6; slurmctld += $7; runs += $8; commits[$2] = 1
      if (NR == 1) first = $1; last = $1 }
      END { printf "%d blocks, %d rounds, %.1f hours, seeds %d to %d, commits", blocks, rounds, seconds / 3600, first, last
        for (commit in commits) printf " %s", commit
        printf "\n\n| what | how often |\n|---|---|\n"
        printf "| blocks with a difference | %d |\n| runs compared | %d |\n", bad, runs
        printf "| SIGKILL of shapleyd, both daemons included | %d |\n| SIGKILL of slurmctld, both daemons included | %d |\n", shapleyd, slurmctld }' \
      "$1/blocks"
    sed -nE 's/^  ([A-Za-z`].*[^ ]) +([0-9]+)$/\1\t\2/p' "$1"/block-*.log |
      awk -F '\t' '{ n[$1] += $2 } END { for (name in n) printf "| %s | %d |\n", name, n[name] }' | sort
  } >"$1/results.md"
}

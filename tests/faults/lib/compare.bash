# Slurm's own records (jobcomp/filetxt) against the ledger while jobs go on: every run that Slurm has recorded must be in the books, and
# every run that the books call over must be in Slurm's records, to the second and the processor. Plain awk and sqlite3, none of our code. To be
# sourced after tests/e2e/lib/books.bash.
#
# Ten things are as they must be, or cannot be known better, although they differ, and each is recognized by what makes it so and counted (docs/reliability.md). Spans
# of $CLUSTER_DIR/lost are called losses:
#   twice      Slurm recorded two ends of one run: the first after the state that a later loss went back to, and before that loss
#   forgotten  a run that began after that state and whose end fell into the blind part of the loss: neither slurmctld nor the plugin knew it
#              afterwards; jobcomp alone does
#   requeued   a run that ended in a requeue within the blind part of a loss: slurmctld keeps only the times of a job's last run
#   done       Slurm recorded a run that had ended, and recorded it again with a later end when its job was requeued: that end is the requeue's.
#              The ledger has the first (nothing, if it ended in the second in which it began), or, where the plugin's word of that fell into the
#              blind part of a loss, the second
#   unseen     a run of a second at most that ended in a requeue: it began and ended between two looks of the plugin, and slurmctld keeps nothing of it
#   suspended  a run that began after that state and that the books saw suspended within it, but never resumed or ended: what became of it
#              is not known, so it holds what was seen of it
#   restarted  a run that began after that state, and whose job slurmctld, back again, started again and requeued before the plugin looked for the
#              first time: its record is that of a requeued run
#   both       a run that began after that state and was recorded, overlapping one that slurmctld, back again, went on with and recorded, too: the
#              books have both, as Slurm's records do
#   wiped      a run that was suspended when its job was requeued, its node having failed: Slurm's record counts the suspension, and its seconds are gone
#   unrecorded a run that ended while one slurmctld took over from another ($CLUSTER_DIR/changes, spans "SINCE UNTIL"): slurmd's word that its epilog
#              has ended reached the one that was in wait, and jobcomp never has it. slurmctld lists the job with the very times of the books

# read_records: $CLUSTER_DIR/records = "JOB START END PROCESSORS ACCOUNT STATE LINE NODES" of every run recorded so far, nodes as n1,n3,n4. Those
# that ended in the second in which they began are among them: they held nothing, but show that their job had ended.
read_records() {
  awk '
    function expand(list,    body, parts, n, i, range, k, result) {
      if (list !~ /^n\[/) return list
      body = substr(list, 3, length(list) - 3)
      n = split(body, parts, ",")
      for (i = 1; i <= n; ++i) {
        if (split(parts[i], range, "-") == 1) range[2] = range[1]
        for (k = range[1]; k <= range[2]; ++k) result = result (result == "" ? "" : ",") "n" k
      }
      return result
    }
    {
      delete field
      for (i = 1; i <= NF; ++i) { at = index($i, "="); field[substr($i, 1, at - 1)] = substr($i, at + 1) }
      if (field["NodeList"] != "(null)" && field["StartTime"] != "Unknown")
        print field["JobId"], field["StartTime"], field["EndTime"], field["ProcCnt"], field["Account"], field["JobState"], FNR,
          expand(field["NodeList"])
    }' "$CLUSTER_JOBCOMP" >"$CLUSTER_DIR/records"
}

# remember_seconds: "JOB START END SECONDS" of every finished job that slurmctld has or had, the last word on each: its run time without
# suspensions, which jobcomp/filetxt does not know.
remember_seconds() {
  { cat "$CLUSTER_DIR/seconds"; finished_seconds; } | awk '{ last[$1 " " $2 " " $3] = $0 } END { for (key in last) print last[key] }' \
    >"$CLUSTER_DIR/seconds.new" && mv "$CLUSTER_DIR/seconds.new" "$CLUSTER_DIR/seconds"
}
finished_seconds() {
  scontrol -o show jobs | awk '{
      delete field
      for (i = 1; i <= NF; ++i) { at = index($i, "="); field[substr($i, 1, at - 1)] = substr($i, at + 1) }
      if (field["NodeList"] == "(null)" || field["JobState"] ~ /RUNNING|SUSPENDED|PENDING/) next
      n = split(field["RunTime"], part, /[-:]/)
      print field["JobId"], field["StartTime"], field["EndTime"], (n > 3 ? part[1] * 86400 : 0) + part[n - 2] * 3600 + part[n - 1] * 60 + part[n]
    }'
}

# compare_now: one line for every difference, "excused KIND LINE JOB" for every record (line 0: run of the ledger) that is excused, "compared N" at
# the end.
compare_now() {
  local dir=$CLUSTER_DIR
  touch "$dir/lost" "$dir/seconds" "$dir/changes"
  # One that completes is recorded when slurmd has said that its epilog has ended; that word is sent again when slurmctld was away.
  squeue -h -t RUNNING,SUSPENDED,COMPLETING -o '%A %S' >"$dir/active" || return 1
  read_records
  remember_seconds || return 1
  (cd "$dir" && sqlite3 -separator ' ' :memory: ".read $faults_lib/compare.sql" 2>&1)
}

# books_agree: nothing differs but what is excused. Overrides that of books.bash, which knows no excuse.
books_agree() {
  compare_now >"$CLUSTER_DIR/compared" || return 1
  grep -vE '^(excused|compared) ' "$CLUSTER_DIR/compared" >"$CLUSTER_DIR/differences"
  [ ! -s "$CLUSTER_DIR/differences" ] && grep -q '^compared ' "$CLUSTER_DIR/compared"
}

# An audit of a copy, without the daemon: chain, projections, psi and phi by code that shares nothing with the books, Slurm's records. What
# compare.bash excuses may be among its findings, nothing else. (It knows itself about runs recorded twice.)
audit_copy() {
  local dir=$CLUSTER_DIR/audit
  rm -rf "$dir"; mkdir -p "$dir"
  sqlite3 -readonly "file:$CLUSTER_LEDGER?mode=ro" ".backup $dir/ledger.db"
  shapleyctl audit "$dir/ledger.db" --against "$CLUSTER_JOBCOMP" >"$dir/report.txt" 2>&1 && return
  grep -q '^  checked: .* runs\? compared' "$dir/report.txt" || return 1
  awk 'NR == FNR { if ($1 == "excused" && ($3 == 0 || $2 == "wiped")) run[$4]; if ($1 == "excused" && $3 != 0 && $2 != "twice") line[$3]; next }
    !/FINDING/ { next }
    match($0, /\(line [0-9]+/) && substr($0, RSTART + 6, RLENGTH - 6) in line && /that the ledger does not have(: it was retracted|$)/ { next }
    match($0, /: job [0-9]+, run/) && substr($0, RSTART + 6, RLENGTH - 11) in run && /that the records do not have$/ { next }
    # The audit pairs it with a record of another run of the job, which is compared here with its own.
    match($0, /: job [0-9]+, run/) && substr($0, RSTART + 6, RLENGTH - 11) in run && /: (begins|ends) at .* in the ledger, at / { next }
    { print; bad = 1 }
    END { exit bad }' "$CLUSTER_DIR/compared" "$dir/report.txt" >"$dir/findings"
}

# print_compared: the last comparison and the last audit, for people.
print_compared() {
  awk '/^compared/ { compared = $2 } /^excused/ { ++n[$2] } END {
      printf "runs compared %d, differences 0\n", compared
      printf "recorded twice by Slurm %d, forgotten by slurmctld %d, requeues that only jobcomp knew %d, recorded again when requeued %d, begun and requeued between two looks %d, suspended and forgotten %d, started anew and requeued unseen %d, both runs recorded %d, ended during a takeover and not recorded %d, suspended when requeued %d\n",
        n["twice"], n["forgotten"], n["requeued"], n["done"], n["unseen"], n["suspended"], n["restarted"], n["both"], n["unrecorded"], n["wiped"] }' \
    "$CLUSTER_DIR/compared"
  grep -E '^[0-9]+ runs|compared' "$CLUSTER_DIR/audit/report.txt" | head -n 3
}

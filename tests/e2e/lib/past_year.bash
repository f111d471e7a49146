# A year that Slurm's accounting remembers: 2025, a year that is over, on the four nodes of cluster.bash, put into slurmdbd's database as if it had run
# there. What sacct then exports is the same in every run. To be sourced after slurmdbd.bash.

# past_runs: "JOB ACCOUNT NODES CPUS SUBMIT START END STATE" of each. Each node ran whole-node jobs of hours to days, one after the other: those of astro mostly
# others', above all bio's, so that in the end bio owes and astro is owed, by far. Every fortieth failed; every fiftieth was
# requeued once (the same job, and a second row); some were cancelled before they ran.
past_runs() {
  awk '
    function chance(n) { seed = (seed * 16807) % 2147483647; return seed % n }  # minimal standard, Park and Miller 1988
    function account(node,   c) {
      c = chance(10)
      if (node <= 2) return c < 6 ? "bio" : c < 9 ? "astro" : "cells"
      if (node == 3) return c < 8 ? "bio" : "cells"
      return c < 7 ? "chem" : c < 9 ? "bio" : "acids"
    }
    BEGIN {
      seed = 2025; first = 1735689600; last = first + 365 * 86400
      for (node = 1; node <= 4; ++node)
        for (now = first + chance(86400); ; now += chance(36000)) {
          length_s = 3600 + chance(4 * 86400)
          if (now + length_s > last) break
          ++job; who = account(node); submit = now - chance(7200)
          if (job % 50 == 0) { print job, who, "n" node, 16, submit, now, now + 600, 1024; now += 900; submit = now - 300 }
          print job, who, "n" node, 16, submit, now, now + length_s, job % 40 ? 3 : 5
          if (job % 60 == 0) print ++job, who, "-", 0, submit, 0, submit + 60, 4
          now += length_s
        }
    }'
}

# past_year: into the database of the running cluster. State 3 is COMPLETED, 4 CANCELLED, 5 FAILED, 1024 REQUEUED.
past_year() {
  {
    echo "SET sql_mode = '';"  # columns that other releases of Slurm have besides are empty
    echo "CREATE TEMPORARY TABLE past (job INT, account TEXT, nodes TEXT, cpus INT, submit BIGINT, start BIGINT, end BIGINT, state INT);"
    past_runs | sed -E "s/^([0-9]+) ([a-z]+) (\S+) (.*)/\1,'\2','\3',\4/; s/ /,/g; s/.*/INSERT INTO past VALUES (&);/"
    cat <<SQL
INSERT INTO shapleytest_job_table (mod_time, id_job, account, id_assoc, id_user, id_group, job_name, nodelist, nodes_alloc, \`partition\`, priority,
    state, timelimit, time_submit, time_eligible, time_start, time_end, cpus_req, id_array_job, id_array_task, id_qos, id_resv, id_wckey,
    het_job_id, het_job_offset, tres_alloc, tres_req)
  SELECT end, job, account, id_assoc, $JOB_UID, $JOB_GID, 'run', IF(cpus, nodes, 'None assigned'), cpus > 0, 'main', 1,
    state, 10080, submit, submit, start, end, 16, 0, 4294967294, 1, 0, 0,
    0, 4294967294, IF(cpus, CONCAT('1=', cpus, ',4=1'), ''), '1=16,4=1'
  FROM past JOIN shapleytest_assoc_table ON acct = account AND user = 'daemon' ORDER BY submit;
SQL
  } | mariadb --no-defaults -S "$CLUSTER_DIR/mariadb/sock" -u root slurm_acct_db
}

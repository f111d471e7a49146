# Checks every start of the demo against the rule asked again after every start. Input: jobcomp.txt (who owned which job), then slurmctld.log.
#
# The rule. slurmctld's log has, in its own order, each submission, the leads of the organizations as the plugin received them, what they lack to
# their guarantees, and each start. Starting a job lowers its organization's lead, and what it lacks, by its processors (`width`; all jobs of the demo
# have the same), and its end raises them. A start is in order if, by the leads in force and what has started since they came, no organization with a job waiting is ahead of it
# by more than two jobs: leads may be older than the starts of the same moment, and places are whole jobs. A start less than `grace` seconds after new
# leads may follow either, and is counted apart.
#
# A second count shows that the rule can fail: the starts that passed an older waiting job, i.e. broke first come first served.
#
# Prints "starts in_order of_them_in_grace out_of_order passed_older orders"; each start out of order also as a line before it.

function seconds(stamp, part) {
  split(substr(stamp, 13, 12), part, ":")
  return part[1] * 3600 + part[2] * 60 + part[3]
}

# The organizations with a job waiting that are ahead of `mine` by the leads of this set; "" if none.
function passed_over(set, mine, name, own, own_lacks, slack, found) {
  slack = 2 * width
  own = lead[set, mine] - width * since[set, mine]
  own_lacks = lacks[set, mine] - width * since[set, mine]
  found = ""
  for (name in waiting) {
    if (name == mine || waiting[name] <= 0 || own_lacks + slack > 0) continue
    if (lacks[set, name] - width * since[set, name] > slack || lead[set, name] - width * since[set, name] > own + slack) found = found " " name
  }
  return found
}

FNR == 1 { ++file }

file == 1 {
  match($0, /JobId=[0-9]+/); job = substr($0, RSTART + 6, RLENGTH - 6)
  match($0, / Account=[^ ]*/); account[job] = substr($0, RSTART + 9, RLENGTH - 9)
  next
}

/_slurm_rpc_submit_batch_job: JobId=/ {
  match($0, /JobId=[0-9]+/); job = substr($0, RSTART + 6, RLENGTH - 6)
  if (!(job in started)) { ++waiting[account[job]]; pending[job] = 1 }
}

/priority\/shapley: leads: / {
  text = $0; sub(/.*leads: /, "", text)
  n = split(text, part, ", ")
  for (i = 1; i <= n; ++i) {
    split(part[i], word, " ")
    name = word[1]
    lead["before", name] = lead["now", name]; lacks["before", name] = lacks["now", name]; since["before", name] = since["now", name]
    lead["now", name] = word[2]; lacks["now", name] = word[4]; since["now", name] = 0
  }
  changed = seconds($0); ++orders
}

/ sched: Allocate JobId=/ {
  match($0, /JobId=[0-9]+/); job = substr($0, RSTART + 6, RLENGTH - 6)
  if (started[job]++) next
  ++starts
  if (job in pending) { --waiting[account[job]]; delete pending[job] }
  for (older in pending) if (older + 0 < job + 0) { ++passed_older; break }
  passed = passed_over("now", account[job]); passed_before = passed_over("before", account[job])
  ++since["now", account[job]]; ++since["before", account[job]]
  if (passed == "") next
  if (seconds($0) - changed < grace && passed_before == "") { ++in_grace; next }
  ++out_of_order
  print "out of order:", substr($0, 13, 12), "job", job, "of", account[job], "passed over" passed
}

/ _job_complete: JobId=[0-9]+ done/ {
  match($0, /JobId=[0-9]+/); job = substr($0, RSTART + 6, RLENGTH - 6)
  --since["now", account[job]]; --since["before", account[job]]
}

END { print starts + 0, starts - out_of_order, in_grace + 0, out_of_order + 0, passed_older + 0, orders + 0 }

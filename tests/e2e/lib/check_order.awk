# Checks every start of the demo against the ranks in force. Input: jobcomp.txt (who owned which job), then slurmctld.log.
#
# The rule. slurmctld's log has, in its own order, each submission, each new order of organizations as the plugin received it,
# and each start. A start is in order if at that moment no organization with a better rank had a job waiting. (All jobs of
# the demo have the same size, so any of them would have fitted.) Between the plugin's receiving a new order and its writing
# it into the pending jobs' priorities a scheduling pass may still follow the old one: a start less than `grace` seconds
# after a change may follow either, and is counted apart.
#
# A second count shows that the rule can fail: the starts that passed an older waiting job, i.e. broke first come first served.
#
# Prints "starts in_order of_them_in_grace out_of_order passed_older orders"; each start out of order also as a line before it.

function seconds(stamp, part) {
  split(substr(stamp, 13, 12), part, ":")
  return part[1] * 3600 + part[2] * 60 + part[3]
}

# The organizations with a better rank than `mine` in `order` that have jobs waiting; "" if none.
function passed_over(order, mine, name, n, i, found) {
  n = split(order, name, ", ")
  found = ""
  for (i = 1; i <= n && name[i] != mine; ++i) if (waiting[name[i]] > 0) found = found " " name[i]
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

/priority\/shapley: ranks: / {
  previous = order; order = $0; sub(/.*ranks: /, "", order)
  changed = seconds($0); ++orders
}

/ sched: Allocate JobId=/ {
  match($0, /JobId=[0-9]+/); job = substr($0, RSTART + 6, RLENGTH - 6)
  if (started[job]++) next
  ++starts
  if (job in pending) { --waiting[account[job]]; delete pending[job] }
  for (older in pending) if (older + 0 < job + 0) { ++passed_older; break }
  if (passed_over(order, account[job]) == "") next
  if (seconds($0) - changed < grace && passed_over(previous, account[job]) == "") { ++in_grace; next }
  ++out_of_order
  print "out of order:", substr($0, 13, 12), "job", job, "of", account[job], "passed over" passed_over(order, account[job])
}

END { print starts + 0, starts - out_of_order, in_grace + 0, out_of_order + 0, passed_older + 0, orders + 0 }

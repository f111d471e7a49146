#!/usr/bin/env bash
# The commands as a user types them: exit codes, messages, files, and the same bytes for the same seed.
# Usage: command_line.sh SHAPLEY_SIM
set -euo pipefail
sim=$1
dir=$(mktemp -d "${TMPDIR:-/tmp}/shapley-sim.XXXXXX")
trap 'rm -rf "$dir"' EXIT
die() { echo "$*"; exit 1; }
# Before a program: it dies with this script, also when that is killed and no trap runs.
mortal=(setpriv --pdeathsig KILL)
# Seconds that a command may take; a few are enough, except on a slow machine with a sanitizer.
timeout_s=600

# ends CODE PATTERN COMMAND...: the command ends with CODE and says PATTERN on standard error, which holds nothing else
# on success (no progress bar: it is no terminal).
ends() {
  local code=$1 pattern=$2 found=0
  shift 2
  "${mortal[@]}" timeout --foreground -s KILL "$timeout_s" "${mortal[@]}" "$@" >"$dir/out" 2>"$dir/err" || found=$?
  [[ $found != 137 ]] || die "not over within $timeout_s s: $*"
  [[ $found == "$code" ]] || die "exit $found, not $code: $* ($(cat "$dir/err"))"
  [[ -z $pattern ]] || grep -qE "$pattern" "$dir/err" || die "'$pattern' not said by: $* ($(cat "$dir/err"))"
  [[ $code != 0 || ! -s $dir/err ]] || die "noise on standard error: $(cat "$dir/err")"
}

window=(--trace excerpt --processors 12 --organizations 4 --length 8000)

ends 2 "'comapre' is no command; did you mean compare\?" "$sim" comapre --seed 3
ends 0 '' "$sim" trace --trace excerpt
grep -q 'left out *131: no user' "$dir/out" || die "trace does not count what it leaves out"
ends 0 '' "$sim" trace --generate unit --generate-length 2000 --length 500 --json
jq -e '.jobs > 0 and .windows_with_jobs > 0' "$dir/out" >/dev/null

ends 0 '' "$sim" compare "${window[@]}" --windows 4 --json
cp "$dir/out" "$dir/first"
# The published rule is the default, to the byte, and the rule of a name goes before the option.
ends 0 '' "$sim" compare "${window[@]}" --windows 4 --json --horizon 0 --guarantee 0
cmp "$dir/out" "$dir/first"
ends 0 '' "$sim" compare "${window[@]}" --windows 4 --json --policies direct_contr,direct_contr@0 --horizon 6h --reference ref@0
jq -e '.settings.horizon == "6h" and .summary[0].mean != .summary[1].mean' "$dir/out" >/dev/null
jq -e --slurpfile first "$dir/first" '.summary[1].mean == ([$first[0].summary[] | select(.policy == "direct_contr")][0].mean)' "$dir/out" >/dev/null ||
  die "direct_contr@0 is not direct_contr"
ends 2 'write 0, seconds .3600., or a number with s, m, h or d' "$sim" compare "${window[@]}" --horizon 7w
# What runs counts, and passes that are ordered once: two processors come free at once for two queues.
ends 0 '' "$sim" compare "${window[@]}" --windows 4 --json --policies direct_contr,direct_contr@6h --horizon 6h --running-weight 0.5 --once-a-pass
jq -e '.settings.running_weight == "0.5" and .settings.once_a_pass and .summary[0].mean != .summary[1].mean' "$dir/out" >/dev/null
echo '{"machines": [1, 1], "jobs": [[0, 9, 0], [0, 9, 0], [0, 9, 1], [0, 9, 1]], "t_end": 9}' >"$dir/two_queues.json"
served() {
  ends 0 '' "$sim" run --instance "$dir/two_queues.json" --policy direct_contr --json "${@:2}"
  [[ "$(jq -c '.results[0].psi' "$dir/out")" == "$1" ]] || die "with ${*:2}: $(jq -c '.results[0].psi' "$dir/out"), not $1"
}
served '[90,0]' --horizon 6h
served '[45,45]' --horizon 6h --running-weight 0.1
served '[45,45]' --guarantee 0.5
served '[90,0]' --horizon 6h --guarantee 0.5 --running-weight 0.1 --once-a-pass
# Whole jobs on processors of several kinds: an instance, and a window of a trace with a map of partitions.
echo '{"machines": [1, 3], "jobs": [[0, 10, 0, 4]], "t_end": 20}' >"$dir/wide.json"
ends 0 '' "$sim" value --instance "$dir/wide.json"
grep -qE '^hindsight_whole +310 310$' "$dir/out" || die "value: $(<"$dir/out")"
ends 0 '' "$sim" value --instance "$dir/wide.json" --json
jq -e '.p_tot == 40 and .estimates[0].phi == ["310", "310"] and .estimates[1].v_coalitions == {"1": 210, "2": 0}' "$dir/out" >/dev/null ||
  die "value --json: $(<"$dir/out")"
partition=(value --trace excerpt --length 4000 --owned 'cpu=4,4,0' --owned 'gpu=0,0,2')
ends 0 '' "$sim" "${partition[@]}" --kinds '2=gpu+cpu' --json
cp "$dir/out" "$dir/kinds"
ends 0 '' "$sim" "${partition[@]}" --kinds '2=cpu' --json
! cmp -s "$dir/out" "$dir/kinds" || die "kinds make no difference"
ends 1 'there is no kind "fpga"; --owned names cpu, gpu' "$sim" "${partition[@]}" --kinds '2=fpga'
ends 1 'the trace has no such partition; it has' "$sim" "${partition[@]}" --kinds 'gpu=gpu'
echo '{"machines": [1], "jobs": [[0, 1, 0, 1, 0]], "t_end": 2}' >"$dir/kinds.json"
ends 1 'jobs\[0\].*`shapley-sim value` reads kinds' "$sim" run --instance "$dir/kinds.json" --policy fcfs
ends 1 'known are traces, wide, gpu_one and gpu_two' "$sim" experiment real_jobs --cases narrow
ends 2 'the weight of what runs is at most 1' "$sim" compare "${window[@]}" --running-weight 1.5
ends 2 'a guarantee is at most 1' "$sim" compare "${window[@]}" --guarantee 1.5
ends 1 'does not rank by phi - psi' "$sim" compare "${window[@]}" --policies fair_share@7d
ends 1 'known are saturated' "$sim" experiment stability --cases saturation
ends 0 '' "$sim" experiment stability --cases load_1.05 --policies direct_contr --json
jq -e '[.cases[0].rules[] | select(.rule == "direct_contr" or .rule == "direct_contr@7d") | .deviation_late] | .[0] > 0.2 and .[1] < 0.01' \
  "$dir/out" >/dev/null || die "no swing without a horizon, or one with it"
jq -e '(.criteria | length) == 64 and ([.criteria[] | select(.rule == "direct_contr@7d/0.5" or .rule == "direct_contr@braking/0.5") | .holds] | all)' "$dir/out" >/dev/null
ends 1 'known are load_0.80, .*junk_waits' "$sim" experiment strategy --cases junk
ends 1 '"fair_share" cannot rank the cluster; name direct_contr, hindsight' "$sim" experiment strategy --policies fair_share
ends 1 '"direct_contr/once" cannot rank the cluster' "$sim" experiment strategy --policies direct_contr/once
ends 0 '' "$sim" experiment strategy --cases load_0.80,junk_waits,pinned,twice --instances 2
grep -q '^pinned  *placements ' "$dir/out" || die "no row for an attack: $(cat "$dir/out")"
ends 0 '' "$sim" experiment strategy --cases load_1.05,pinned,twice --instances 2 --json --threads 1
cp "$dir/out" "$dir/strategy"
jq -e '[.tables[].contribution] == ["direct_contr", "hindsight"] and .tables[0].seeds == 2 and
  (.tables[0].attacks | map(.attack)) == ["pinned", "twice"]' "$dir/out" >/dev/null
jq -e '.tables[1].attacks[0] | .change_without_remedy.phi_percent.mean > .change.phi_percent.mean' "$dir/out" >/dev/null ||
  die "junk for busy nodes gains no more contribution where it may use any"
ends 0 '' "$sim" experiment strategy --cases load_1.05,pinned,twice --instances 2 --json --threads 2
cmp "$dir/out" "$dir/strategy"
ends 1 'known are cross, repay' "$sim" experiment consortium --cases crossing
ends 1 '"fair_share" cannot rank a consortium' "$sim" experiment consortium --policies fair_share
ends 1 '"hindsight/once" cannot rank a consortium' "$sim" experiment consortium --policies hindsight/once
month=(--cases cross,repay,symmetric --length 2419200 --policies direct_contr,shapley_rate@7d,hindsight@7d)
ends 0 '' "$sim" experiment consortium "${month[@]}" --json --threads 1
cp "$dir/out" "$dir/consortium"
ends 0 '' "$sim" experiment consortium "${month[@]}" --json --threads 2
cmp "$dir/out" "$dir/consortium"
jq -e '(.tables | length) == 9 and ([.tables[0].rows[] | .ranks_by] | index("sum")) == 1 and (.tables[0].rows | length) == 7' \
  "$dir/out" >/dev/null || die "other tables or rows of the consortium"
jq -e '.tables[0].rows | (.[0].standing[0][-1] | fabs) > 10 * (.[1].standing[0][-1] | fabs)' \
  "$dir/out" >/dev/null || die "what A lends on one cluster is not repaid on the other"
ends 0 '' "$sim" experiment consortium --cases repay --length 2419200 --policies direct_contr@7d --instances 2
grep -q '^sum 7d, every 7d, residual ' "$dir/out" || die "no row for figures that stay: $(cat "$dir/out")"
ends 0 '' "$sim" experiment stability --cases windows --trace excerpt --length 8000 --windows 2 --policies direct_contr
grep -q 'against ref@7d' "$dir/out" || die "no windows against ref of the same horizon"
ends 0 '' "$sim" compare "${window[@]}" --windows 4 --threads 1 --json
cmp "$dir/out" "$dir/first"
jq -e '(.windows | length) == 4 and ([.summary[].mean] | max) > 0' "$dir/first" >/dev/null
ends 0 '' "$sim" compare "${window[@]}" --windows 2 --policies rand,fcfs --baseline fcfs
grep -qE '^fcfs .* 1\.00 +(0\.00|-) +0 +(0|-)$' "$dir/out" || die "the baseline differs from itself"

ends 0 '' "$sim" run "${window[@]}" --window 3 --policy shapley_rate,fcfs --csv "$dir/o.csv"
[[ $(wc -l <"$dir/o.csv") -eq 9 ]] || die "the csv has another number of rows"
ends 0 '' "$sim" run "${window[@]}" --policy fcfs --batsim-jobs "$dir/jobs.csv"
head -1 "$dir/jobs.csv" | grep -q '^job_id,.*,metadata$'

# A window to be submitted: 4,000 s divided by 20, every job with an organization; and what ran, judged.
ends 0 '' "$sim" window --trace excerpt --begin 21940095 --length 4000 --owned 3,2
awk 'NR == 1 { bad = $1 != "residual" || $2 < 30; next } { bad += NF != 5 || $1 > 199 || $2 > 1 || $3 < 1 || $4 < 1 } END { exit bad > 0 || NR < 10 }' \
  "$dir/out" || die "another window: $(cat "$dir/out")"
ends 1 'no job is submitted in the window' "$sim" window --trace excerpt --begin 5 --length 4000 --owned 3,2
ends 2 '' "$sim" window --trace excerpt --length 4000 --owned 3,2
echo '{"window": "made", "policy": "fifo", "rule": "fcfs", "owned": [1, 1], "length": 20, "residual": 9, "factor": 20, "priorities_written": 3,
  "runs": [{"organization": 0, "submit": 0, "start": 1, "end": 11, "requested": 9, "processors": 2},
           {"organization": 1, "submit": 2, "start": null, "end": null, "requested": 9, "processors": 1}]}' >"$dir/ran.json"
ends 0 '' "$sim" judge "$dir/ran.json" --json
jq -e '.verdicts[0] | .runs == 2 and .starts == 1 and .written_a_start == 3 and .fidelity > 0 and .unfairness > 0' "$dir/out" >/dev/null ||
  die "another verdict: $(cat "$dir/out")"
ends 0 '' "$sim" judge "$dir/ran.json"
grep -qE '^fifo +1 ' "$dir/out" || die "no row of a verdict: $(cat "$dir/out")"
sed -i 's/"rule": "fcfs"/"rule": "fair"/' "$dir/ran.json"
ends 1 'recording: .*ran.json: policy "fair" is unknown' "$sim" judge "$dir/ran.json"
ends 1 'absent.json: cannot be read' "$sim" judge "$dir/absent.json"

# Rigid parallel jobs: all processors at once. By default a job of q processors is q jobs.
printf '{"machines": [2, 1], "jobs": [[0, 5, 0, 2], [0, 4, 1, 2], [0, 1, 1]], "t_end": 20}' >"$dir/wide.json"
printf '{"machines": [2, 1], "jobs": [[0, 5, 0], [0, 5, 0], [0, 4, 1], [0, 4, 1], [0, 1, 1]], "t_end": 20}' >"$dir/copies.json"
ends 0 '' "$sim" run --instance "$dir/wide.json" --policy ref,fcfs --json --schedule
cp "$dir/out" "$dir/first"
ends 0 '' "$sim" run --instance "$dir/copies.json" --policy ref,fcfs --json --schedule
cmp "$dir/out" "$dir/first"
ends 0 '' "$sim" run --instance "$dir/wide.json" --policy fcfs --parallel rigid --json --schedule
jq -e '.results[0].schedule == [[0, 0, 0, 5, 2], [1, 1, 5, 4, 2], [2, 1, 5, 1, 1]]' "$dir/out" >/dev/null ||
  die "another schedule of rigid jobs: $(cat "$dir/out")"
ends 1 'ref: rigid parallel jobs.*use shapley_rate or direct_contr' "$sim" run --instance "$dir/wide.json" --policy ref --parallel rigid
# Jobs of one processor are the same either way, to the byte.
ends 0 '' "$sim" run "${window[@]}" --policy ref,rand,direct_contr,shapley_rate,karma --json
cp "$dir/out" "$dir/first"
ends 0 '' "$sim" run "${window[@]}" --policy ref,rand,direct_contr,shapley_rate,karma --json --parallel rigid
cmp "$dir/out" "$dir/first"
{
  echo '; MaxProcs: 8'
  for ((j = 1; j <= 60; ++j)); do
    echo "$j $((j * 20)) -1 $((30 + j * 7 % 100)) $((1 + j % 6)) -1 -1 -1 -1 -1 1 $((j % 9 + 1)) 1 -1 -1 -1 -1 -1"
  done
} >"$dir/wide.swf"
wide=(--trace "$dir/wide.swf" --organizations 3 --length 600 --windows 3 --parallel rigid)
ends 0 '' "$sim" compare "${wide[@]}" --reference shapley_rate --policies fcfs,direct_contr,fair_share
grep -q 'rigid parallel jobs' "$dir/out" || die "the table does not say that jobs are rigid"
ends 0 '' "$sim" trace --trace "$dir/wide.swf" --length 600 --parallel rigid
ends 1 'ref: rigid parallel jobs.*--reference' "$sim" compare "${wide[@]}" --policies fcfs
ends 1 'needs 6 processors at once, there are 5; give more --processors' "$sim" compare "${wide[@]}" --processors 5 --policies fcfs

# The presets, shrunk; without a trace they run on generated jobs and say so.
traces=${SHAPLEY_TRACES:-}
unset SHAPLEY_TRACES
ends 0 '' "$sim" experiment table1 --windows 2 --organizations 3 --policies rand,fcfs
grep -q 'These jobs are generated' "$dir/out" || die "a generated workload is not named as one"
ends 0 '' "$sim" experiment table2 --windows 2 --length 60000 --organizations 3 --policies rand,direct_contr --json
jq -e '.traces[0].trace == "generated" and (.traces[0].windows | length) == 2' "$dir/out" >/dev/null
ends 0 '' "$sim" experiment figure10 --trace excerpt --windows 2 --length 8000 --organizations 2,3
grep -q 'k = 3' "$dir/out" || die "figure10 has no column for k = 3"
ends 0 '' "$sim" experiment utilization --windows 2 --length 30000 --json
jq -e '[.traces[].policies[].worst] | min >= 0.75 and max <= 1' "$dir/out" >/dev/null ||
  die "utilization leaves the bounds of Theorem 6.2"
ends 0 '' "$sim" experiment speed --windows 1 --length 30000 --organizations 3 --json
jq -e '.events_per_second.ref["3"] > 0' "$dir/out" >/dev/null
ends 1 'holds none of the traces' "$sim" experiment table1 --traces "$dir"
ends 2 'table3 not in' "$sim" experiment table3
printf '1 2 3\n' >"$dir/bad.swf"
ends 1 'bad.swf: line 1: expected 18 columns, found 3.*--malformed skip' "$sim" trace --trace "$dir/bad.swf"
ends 1 'holds no job' "$sim" trace --trace "$dir/bad.swf" --malformed skip
ends 1 'absent.swf: cannot be read' "$sim" compare --trace "$dir/absent.swf"
ends 1 'policy "fair" is unknown; known are' "$sim" compare "${window[@]}" --policies fair
ends 1 'is not among --policies' "$sim" compare "${window[@]}" --policies fcfs --baseline rand
ends 1 'exceed its limit' "$sim" compare --trace excerpt --processors 12 --organizations 20
ends 1 'show one policy' "$sim" run "${window[@]}" --policy fcfs,rand --batsim-jobs "$dir/jobs.csv"
ends 1 'cannot be written' "$sim" run "${window[@]}" --policy fcfs --csv "$dir/no/o.csv"
ends 2 '' "$sim" compare --endowment unfair
ends 2 '' "$sim"

# until_so COMPLAINT COMMAND...: waits until the command succeeds, with a deadline.
until_so() {
  local complaint=$1 deadline=$((SECONDS + timeout_s))
  shift
  until "$@"; do
    ((SECONDS < deadline)) || die "$complaint within $timeout_s s"
    sleep 0.05
  done
}
catches_ctrl_c() { [[ /proc/$1/exe -ef $sim ]] && ((0x$(awk '/^SigCgt/ { print $2 }' "/proc/$1/status") & 2)); }
is_over() { [[ " $(jobs -pr | xargs) " != *" $1 "* ]]; }

# interrupted COMMAND...: Ctrl-C once the program has asked for it; it must end with exit code 3.
interrupted() {
  "${mortal[@]}" "$@" >"$dir/out" 2>"$dir/err" &
  local pid=$! found=0
  # Until the shell's child has become the program, it catches the signal as shells do.
  until_so "$* catches no Ctrl-C" catches_ctrl_c "$pid"
  kill -INT "$pid"
  until_so "$* does not end after Ctrl-C" is_over "$pid"
  wait "$pid" || found=$?
  [[ $found == 3 ]] || die "exit $found after Ctrl-C: $* ($(cat "$dir/err"))"
}

# Ctrl-C keeps the windows that are finished.
interrupted "$sim" compare "${window[@]}" --windows 1000000 --json
done_windows=$(sed -nE 's/.*interrupted: ([0-9]+) of 1000000 windows are finished/\1/p' "$dir/err")
[[ -n $done_windows ]] || die "Ctrl-C is not said: $(cat "$dir/err")"
[[ $done_windows == 0 ]] || jq -e --argjson n "$done_windows" '(.windows | length) == $n' "$dir/out" >/dev/null ||
  die "not all finished windows are kept"
# What was not finished is in no mean.
interrupted "$sim" experiment mosp --instances 100000
sed -nE 's/.*interrupted: ([0-9]+) of [0-9]+ instances are finished/\1/p' "$dir/err" >"$dir/grids"
[[ -s $dir/grids ]] || die "Ctrl-C is not said: $(cat "$dir/err")"
grids=$(sed -nE 's/.* a cell, ([0-9]+) homogeneous and ([0-9]+) heterogeneous.*/\1 + \2/p' "$dir/out")
((grids <= $(<"$dir/grids"))) || die "$grids grids are counted, $(<"$dir/grids") are finished"
interrupted "$sim" experiment strategy --instances 100000
# Three cases by each estimator, of which there are two or, in `./dev changes`, three.
grep -qE 'interrupted: [0-9]+ of (600000|900000) seeds are finished' "$dir/err" || die "Ctrl-C is not said: $(cat "$dir/err")"
interrupted "$sim" experiment workflow --instances 100000
grep -qE 'interrupted: [0-9]+ of 2400000 repetitions are finished' "$dir/err" || die "Ctrl-C is not said: $(cat "$dir/err")"

# A part that is cut short leaves no file that merge would take.
interrupted "$sim" experiment workflow --instances 100000 --part 2/3 --out "$dir/part.json"
grep -qE 'interrupted: [0-9]+ of 800000 repetitions are finished' "$dir/err" || die "Ctrl-C is not said: $(cat "$dir/err")"
[[ ! -e $dir/part.json && ! -s $dir/out ]] || die "an interrupted part leaves a file or a report"

# On a terminal a bar says how much is done and how much time is left, and is gone at the end; a pipe sees none (ends).
"${mortal[@]}" script -qefc "exec '$sim' compare --trace excerpt --processors 12 --organizations 4 --length 8000 --windows 30 --policies fcfs" \
  /dev/null </dev/null >"$dir/terminal"
tr '\r' '\n' <"$dir/terminal" >"$dir/lines"
grep -qE '^windows \[#+\.+\] [0-9]+/30  [0-9].* left' "$dir/lines" || die "no bar on a terminal: $(cat "$dir/lines")"
grep -q '^windows \[##############################\] 30/30' "$dir/lines" || die "the bar does not end: $(cat "$dir/lines")"
grep -qE $'^\033\\[K30 windows of 8000 s' "$dir/lines" || die "the bar is not wiped away: $(cat "$dir/lines")"

# Names in a trace cannot drive a terminal: ESC, C1 as a character and as a byte, a mark of direction.
hostile=$'\033[2J\302\233\342\200\256\233'
escaped='\x1b[2J\u009b\u202e\x9b'
printf '; Computer: %s\n; MaxProcs: 4\n1 0 0 10 1 -1 -1 1 10 -1 1 1 1 -1 1 -1 -1 -1\n%s\n' "x$hostile" "y$hostile" >"$dir/hostile.swf"
printable() { ! LC_ALL=C grep -qP '[\x00-\x08\x0b-\x1f\x7f]|\xc2[\x80-\x9f]|\xe2\x80[\xaa-\xae]|(^|[^\x80-\xff])[\x80-\xbf]' "$1"; }
ends 0 '' "$sim" trace --trace "$dir/hostile.swf" --malformed skip
printable "$dir/out" || die "a trace's name drives the terminal: $(cat -v "$dir/out")"
grep -qF "x$escaped" "$dir/out" || die "the computer is not named: $(cat "$dir/out")"
ends 0 '' "$sim" trace --trace "$dir/hostile.swf" --malformed skip --json
printable "$dir/out" || die "a trace's name drives the terminal: $(cat -v "$dir/out")"
jq -e '.computer == "x\u001b[2J\u009b\u202e\ufffd"' "$dir/out" >/dev/null || die "another name: $(cat "$dir/out")"
ends 1 '' "$sim" trace --trace "$dir/hostile.swf"
printable "$dir/err" || die "a line of a trace drives the terminal: $(cat -v "$dir/err")"
ends 1 '' "$sim" trace --trace "$dir/absent$hostile"
grep -qF "absent$escaped" "$dir/err" || die "the file is not named: $(cat "$dir/err")"
ends 2 '' "$sim" trace --malformed "$hostile"
printable "$dir/err" || die "an argument drives the terminal: $(cat -v "$dir/err")"

# A site's own history: as it ran first, a page without charts where there is no gnuplot, and the same bytes again.
site=$(dirname "$0")/../../../tests/sacct/site
replay=(env TZ=UTC "$sim" replay --config "$site/shapleyd.yaml" --trace "$site/march.txt" --nodes "$site/nodes.txt")
ends 0 '' "${replay[@]}" --json
cp "$dir/out" "$dir/first"
jq -e '.jobs == 150 and .outcomes[0].policy == "as it ran" and ([.outcomes[].policy] | contains(["fcfs", "direct_contr", "shapley_rate"])) and
       .outcomes[1].all.mean_wait_s < .outcomes[0].all.mean_wait_s and .outcomes[0].distance_to_ref_s > .outcomes[4].distance_to_ref_s' "$dir/out" >/dev/null ||
  die "another replay: $(cat "$dir/out")"
ends 0 '' "${replay[@]}" --json
cmp "$dir/out" "$dir/first"
ends 0 '' "${replay[@]}" --since 2026-03-02T12:00:00 --until 2026-03-02T13:00:00 --policies fcfs,karma --estimates exact
grep -q '^karma .*all ' "$dir/out" || die "no row of karma"
ends 0 '' "$(command -v env)" PATH=/nonexistent TZ=UTC "${replay[@]:2}" --policies fcfs --html "$dir/page.html"
grep -q '>No chart: ' "$dir/page.html" && grep -q '>astro</th>' "$dir/page.html" || die "no page without gnuplot"
sed '/name: chem/,$d' "$site/shapleyd.yaml" >"$dir/two.yaml"
ends 0 '' env TZ=UTC "$sim" replay --config "$dir/two.yaml" --trace "$site/march.txt" --nodes "$site/nodes.txt" --policies fcfs
grep -q "guests: last is not replayed" "$dir/out" || die "no word of guests: $(cat "$dir/out")"
ends 1 'policy ref: rigid parallel jobs' "${replay[@]}" --policies ref
sed 's/name: astro/name: ünis/' "$site/shapleyd.yaml" >"$dir/letters.yaml"
ends 1 "'ünis' is no allowed name; use 1 to 64 letters A-Z and a-z" "$sim" replay --config "$dir/letters.yaml" --trace "$site/march.txt"
ends 1 'no_such.yaml' "$sim" replay --config "$dir/no_such.yaml" --trace "$site/march.txt"
ends 1 'since: someday is no time' "${replay[@]}" --since someday
# What holds without an option is what replay does: the site's own rule of ranks, not the papers'.
ends 0 '' "$sim" replay --help
[[ $(tr -s ' \n' ' ' <"$dir/out" | grep -o '(default: from the site.s configuration)' | wc -l) == 3 ]] || die "other defaults: $(cat "$dir/out")"
ends 2 'config is required' "$sim" replay --trace "$site/march.txt"

# A missing gnuplot is said in a sentence; the numbers are printed all the same.
ends 1 'gnuplot.*install' env PATH=/nonexistent "$sim" compare "${window[@]}" --windows 2 --plot "$dir/p.svg"
grep -q '^rand ' "$dir/out" || die "no table without gnuplot"
if command -v gnuplot >/dev/null; then
  ends 0 '' "$sim" compare "${window[@]}" --windows 2 --plot "$dir/p.svg"
  ends 0 '' "$sim" run "${window[@]}" --policy ref --plot-time "$dir/t.svg" --plot-gantt "$dir/g.svg"
  ends 0 '' "${replay[@]}" --policies fcfs,direct_contr --html "$dir/charts.html"
  [[ $(grep -c '<figure>' "$dir/charts.html") == 2 && $(grep -c '</svg>' "$dir/charts.html") == 4 ]] || die "the page has other than two charts, each in two shapes"
  for plot in p t g; do grep -q '</svg>' "$dir/$plot.svg" || die "$plot.svg is no picture"; done
else
  echo "gnuplot is not installed: plots are not tried"
fi

# The traces of the archive, where they are there.
lpc=$(ls "${traces:-/nonexistent}"/LPC-EGEE*.swf* 2>/dev/null | head -1 || true)
if [[ -n $lpc ]]; then
  ends 0 '' "$sim" trace --trace "$lpc" --processors 70
  grep -q 'left out *14194: no user' "$dir/out" || die "LPC-EGEE: another number of records without a user"
  ends 0 '' "$sim" experiment table1 --traces "$traces" --only LPC-EGEE --windows 5 --policies rand
  grep -qE '^rand .* 8 \+- 21' "$dir/out" || die "the papers' number is missing"
else
  echo "SHAPLEY_TRACES=DIR holds no LPC-EGEE trace: not tried"
fi
echo "shapley-sim does what its command line says"

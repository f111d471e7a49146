#!/usr/bin/env bash
# Experiments in parts: what `merge` prints of the files of all parts is what the whole experiment prints, to the byte; files that
# do not make one experiment are refused, with the reason. Usage: parts.sh SHAPLEY_SIM
set -euo pipefail
sim=$1
dir=$(mktemp -d "${TMPDIR:-/tmp}/shapley-sim.XXXXXX")
trap 'rm -rf "$dir"' EXIT
cd "$dir"
unset SHAPLEY_TRACES
die() { echo "$*"; exit 1; }
# Before a program: it dies with this script, also when that is killed and no trap runs.
mortal=(setpriv --pdeathsig KILL)
sim() { "${mortal[@]}" "$sim" "$@"; }

# in_parts NAME N EXPERIMENT...: the experiment in N parts, into NAME-1.json and so on, which print nothing.
in_parts() {
  local name=$1 parts=$2 part
  shift 2
  for ((part = 1; part <= parts; ++part)); do
    sim experiment "$@" --part "$part/$parts" --out "$name-$part.json" >out || die "part $part of $parts fails: $*"
    [[ ! -s out ]] || die "a part of $* prints a report"
  done
  [[ -z $(find . -name '*.unfinished') ]] || die "an unfinished file stays"
}

# same NAME EXPERIMENT...: the files NAME-*.json give the tables and the JSON of the whole experiment, in any order of files.
forms=('' --json)
same() {
  local name=$1 form
  shift
  for form in "${forms[@]}"; do
    sim experiment "$@" ${form:+"$form"} >whole
    [[ -s whole ]] || die "$* prints nothing"
    # shellcheck disable=SC2046  # file names without spaces
    sim merge $(printf '%s\n' "$name"-*.json | sort -r) ${form:+"$form"} >merged
    cmp whole merged || die "another report of the parts of $* $form"
  done
}
merges() { in_parts "$1" 3 "$@" && same "$1" "$@"; }

small=(--trace excerpt --windows 5 --length 8000 --organizations 3)
merges table1 "${small[@]}"
merges table2 --windows 3 --length 60000 --organizations 3 --policies rand,direct_contr,fcfs
merges figure10 --trace excerpt --windows 4 --length 8000 --organizations 2,3
merges utilization --windows 4 --length 30000 --policies rand,fcfs
merges consortium --cases cross,repay --length 2500000 --policies direct_contr@7d --instances 2
merges strategy --cases load_1.05,junk_waits,twice --instances 2
forms=('')
merges stability --cases saturated,maintenance,windows --trace excerpt --length 8000 --windows 2 --policies direct_contr
merges real_jobs --cases wide,gpu_two --windows 2 --length 20000 --policies fair_tree,hindsight_whole
merges mosp --instances 1
merges workflow --instances 1
merges stability --cases search --instances 2
merges stability --cases members --policies direct_contr
# With other seeds, and more parts than units: some parts have none.
in_parts many 7 table1 "${small[@]}" --seed 2
same many table1 "${small[@]}" --seed 2
in_parts one 1 utilization --windows 2 --length 30000 --policies fcfs
same one utilization --windows 2 --length 30000 --policies fcfs

# Speeds are measured, so no two runs agree; the merged table has those of the parts.
in_parts speed 2 speed --windows 1 --length 30000 --organizations 3,4 --policies fcfs,rand
sim merge speed-1.json speed-2.json --json >merged
jq -n '[inputs.measured.events_per_second] | [.[0], .[1]] | transpose | map(.[0] // .[1])' speed-1.json speed-2.json >speeds
jq -e --slurpfile speeds speeds '[.events_per_second[][]] == $speeds[0] and length == 3 and ([.events_per_second[][]] | min) > 0' merged >/dev/null ||
  die "speeds of the parts are not in the merged table"

# Every experiment was tried.
for name in $("$sim" experiment --help | tr -d '\n' | sed -E 's/.*\{([a-z0-9_, ]*)\}.*/\1/; s/,/ /g'); do
  [[ -e $name-1.json ]] || die "experiment $name is not tried in parts"
done

# refused CODE PATTERN ARGUMENTS...: shapley-sim ends with CODE, says PATTERN and prints nothing.
refused() {
  local code=$1 pattern=$2 found=0
  shift 2
  sim "$@" >out 2>err || found=$?
  [[ $found == "$code" ]] || die "exit $found, not $code: $* ($(<err))"
  grep -qE -e "$pattern" err || die "'$pattern' is not said by $*: $(<err)"
  [[ ! -s out || $code == 2 ]] || die "$* prints: $(<out)"
}
all=(table1-1.json table1-2.json table1-3.json)
refused 1 'parts 2,3 of 3 are missing.*--array=2,3' merge table1-1.json
cp table1-2.json again.json
refused 1 'table1-2.json and again.json are both part 2 of 3' merge "${all[@]}" again.json
refused 1 'are of different experiments \(experiment: "table1" and "table2"\)' merge table1-1.json table2-2.json
sim experiment table1 "${small[@]}" --seed 2 --part 2/3 --out seed.json
refused 1 'are of different experiments \(seed: 1 and 2\)' merge table1-1.json seed.json
refused 1 'different experiments \(number of parts: 3 and 7\)' merge table1-1.json many-2.json
# The same name and options, other jobs.
printf '; MaxProcs: 6\n1 0 0 10 1 -1 -1 1 10 -1 1 1 1 -1 1 -1 -1 -1\n' >jobs.swf
mkdir other && sed 's/ 10 1 / 20 1 /' jobs.swf >other/jobs.swf
sim experiment utilization --trace jobs.swf --windows 2 --policies fcfs --part 1/2 --out jobs-1.json
sim experiment utilization --trace other/jobs.swf --windows 2 --policies fcfs --part 2/2 --out jobs-2.json
refused 1 'do not fit together \(measured/comparisons/0/jobs differs\); were their traces the same' merge jobs-1.json jobs-2.json
# Damage: cut short, a digit changed, not there, no part at all, another version.
head -c 500 table1-2.json >cut.json
refused 1 'cut.json is damaged, or no part' merge table1-1.json cut.json table1-3.json
sed 's/"p_tot":\([0-9]*\)[0-8]/"p_tot":\19/' table1-2.json >digit.json
cmp -s digit.json table1-2.json && die "no digit was changed"
refused 1 'digit.json is damaged: it is not what was written' merge table1-1.json digit.json table1-3.json
sed 's/"program":"shapley-sim [0-9.]*"/"program":"shapley-sim 0.9.0"/; s/"seed"/"start"/' table1-2.json >older.json
refused 1 'older.json was written by shapley-sim 0.9.0, this is' merge table1-1.json older.json table1-3.json
refused 1 'absent.json' merge table1-1.json absent.json
echo '{}' >empty.json
refused 1 'empty.json is damaged, or no part.*program is missing' merge empty.json
refused 2 'required' merge
# What cannot be written is said before the work; an interrupted part leaves no file.
refused 1 '--out: no/part.json.unfinished cannot be written' experiment mosp --instances 100000 --part 1/2 --out no/part.json
refused 1 'seed is no integer in range' experiment workflow --seed 18446744073709551615 --part 1/2 --out part.json
for part in 0/3 4/3 3 1/ /2 1/2x 1/100001 x/2; do
  refused 2 'as 3/40' experiment workflow --part "$part" --out part.json
done
refused 2 '--part requires --out' experiment workflow --part 1/2
refused 2 '--out requires --part' experiment workflow --out part.json
refused 2 'excludes' experiment table1 --json --part 1/2 --out part.json
[[ ! -e part.json ]] || die "a refused part left a file"
echo "merged parts print what whole experiments print"

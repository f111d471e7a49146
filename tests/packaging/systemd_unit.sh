#!/usr/bin/env bash
# systemd_unit.sh UNIT_FILE: systemd knows every setting of the unit, and rates its sandbox "SAFE" (exposure below 1.0 of 10).
# Reads the file only; no systemd needs to run.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
unit=$folder/${1##*/}
# The program is not installed where tests run.
sed -E 's#^(ExecStart|ExecReload|ExecCondition)=/usr/(s?bin|libexec/slurm-shapley)/[a-z-]* #\1=/bin/true #' "$1" >"$unit"
complaints=$(systemd-analyze verify --man=no "$unit" 2>&1) || { echo "$complaints"; exit 1; }
# An unknown setting is only a complaint, no failure. Of other units on the machine nothing is asked.
if grep -F "${1##*/}" <<<"$complaints"; then exit 1; fi
# A reload checks the very file that was started with, before the daemon is asked to read it.
file=$(sed -n 's|^ExecStart=/usr/sbin/shapleyd --config ||p' "$1")
[[ ${1##*/} != shapleyd.service || $(grep '^ExecReload=' "$1") == "ExecReload=/usr/sbin/shapleyd --check-config --config $file"$'\n'"ExecReload=/bin/kill -HUP \$MAINPID" ]] ||
  { echo "ExecReload does not check $file first"; exit 1; }
# The page of the present asks slurmctld over the network and is written for all; so it is with the statement that goes to other hosts.
case ${1##*/} in shapley-live.service | shapley-standing.service) most=12 ;; *) most=10 ;; esac
systemd-analyze security --offline=true --no-pager --threshold="$most" "$unit" | tail -n 1
[[ ${1##*/} == shapleyd.service ]] || exit 0
for setting in WatchdogSec MemoryHigh MemoryMax StartLimitIntervalSec StartLimitBurst; do
  grep -q "^$setting=" "$1" || { echo "$setting is not set"; exit 1; }
done
# With the drop-in for the network, as the page on security has it, it is rated as that page says.
page=${1%/*}/../docs/operating/security.md
sed -n '/^    PrivateNetwork=no$/,/^$/s/^    //p' "$page" >"$folder/dropin"
rated=$(sed -n 's/^.*`systemd-analyze security` rates the unit \([0-9.]*\) of 10.*$/\1/p' "$page")
mkdir "$folder/network"
cat "$unit" - "$folder/dropin" <<<'[Service]' >"$folder/network/shapleyd.service"
systemd-analyze security --offline=true --no-pager "$folder/network/shapleyd.service" | tail -n 1 | tee "$folder/rating"
grep -q " shapleyd.service: $rated " "$folder/rating" || { echo "the page says $rated"; exit 1; }

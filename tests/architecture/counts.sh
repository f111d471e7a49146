#!/usr/bin/env bash
# What shapleyd says of one thing is in the singular: counts of things go through counted() and counted_as() of common/base.
# Usage: counts.sh TREE. Names each text at fault; exit code 1 if there is one.
set -euo pipefail
cd "$1"
nouns='events|runs|messages|observations|records|jobs|nodes|organizations|rules|claims|users|queries|snapshots|checkpoints|archives'
bad=$(grep -rnE --include='*.cpp' --include='*.hpp' "\{\} ([a-z]+ )?($nouns)\b" daemon exporter | grep -v '{} of ' || true)
[[ -z $bad ]] || { printf '%s\n' "$bad"; exit 1; }
[[ $(grep -rlE '\bcounted(_as)?\(' daemon | wc -l) -ge 5 ]] || { echo "counts: counted() is hardly called in daemon"; exit 1; }
echo "counts: no text of daemon and exporter has a count before a plural"

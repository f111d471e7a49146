#!/usr/bin/env bash
# Checks that no file includes a header of a layer it may not use (docs/internals/architecture.md), and that third-party
# headers stay in their one folder: SQLite in ledger, yaml-cpp in config, Asio in daemon and ctl, Slurm in plugin.
# Usage: include_graph.sh SOURCE_ROOT. Prints every forbidden include; exit code 1 if there is one.
set -euo pipefail
cd "$1"

# folder -> project folders whose headers it may include, besides its own
declare -A allowed=(
  [common/base]=""
  [common/fairness]="base"
  [common/planning]="base"
  [common/workflow]="base"
  [common/workload]="base fairness"
  [common/ledger]="base fairness"
  [common/config]="base fairness workflow"
  [common/protocol]="base"
  [daemon]="base fairness ledger config protocol workflow"
  [ctl]="base fairness ledger protocol config planning"
  [sim]="base fairness workload ledger planning workflow"
  [plugin/client]="base protocol"
  [plugin]="plugin/client"
)
# regular expression of a third-party header -> folders that may include it
declare -A fenced=(
  ['sqlite3\.h']="common/ledger"
  ['yaml-cpp/']="common/config"
  ['boost/asio']="daemon ctl"
  ['(slurm/|src/(common|slurmctld|interfaces)/)']="plugin"
  ['msgpack']="common/protocol"
  ['(zlib|lzma)\.h']="common/workload"
)

bad=0
checked=0
complain() { echo "$1: includes $2, which $3 may not use"; bad=1; }

folder_of() {  # the longest listed folder that holds the file
  local best="" folder
  for folder in "${!allowed[@]}"; do
    [[ $1 == "$folder"/* && ${#folder} -gt ${#best} ]] && best=$folder
  done
  echo "$best"
}

while IFS= read -r file; do
  folder=$(folder_of "$file")
  [[ -n $folder ]] || continue
  own=${folder#common/}
  checked=$((checked + 1))
  while IFS= read -r header; do
    layer=${header%/*}
    case "$layer" in
      base | fairness | planning | workflow | workload | ledger | config | protocol | daemon | daemon/* | ctl | ctl/* | sim | sim/* | plugin | plugin/*)
        ok=0
        for name in "$own" ${allowed[$folder]}; do [[ $layer == "$name" || $layer == "$name"/* ]] && ok=1; done
        [[ $own == plugin/client && $layer == plugin ]] && ok=0
        [[ $ok == 1 ]] || complain "$file" "$header" "$folder"
        ;;
    esac
    for pattern in "${!fenced[@]}"; do
      if [[ $header =~ ^$pattern ]]; then
        [[ " ${fenced[$pattern]} " == *" $folder "* ]] || complain "$file" "$header" "$folder"
      fi
    done
  done < <(sed -nE 's/^[[:space:]]*#[[:space:]]*include[[:space:]]*[<"]([^>"]+)[>"].*/\1/p' "$file")
done < <(find common daemon ctl sim plugin -type f \( -name '*.hpp' -o -name '*.cpp' -o -name '*.h' -o -name '*.c' \) 2>/dev/null)

[[ $checked -gt 0 ]] || { echo "include_graph: no source file found under $1"; exit 1; }
[[ $bad == 0 ]] && echo "include_graph: $checked files, every include within its layer"
exit "$bad"

#!/usr/bin/env bash
# Checks every include of the project's sources, however it is written: no file includes a file of a layer that it may not use
# (docs/internals/architecture.md), the ledger's SQL stays in the ledger, and third-party headers stay in their one place.
#
# An include is resolved to a file as the compiler does it: in quotes beside the including file first, then under the include
# roots, the source root, common/ and, for the laboratory, lab/; no folder of the product may use one of lab/. What is in quotes and is no file of the tree must be a third party's. A file outside the
# layers (tests/, build/) may not be included.
#
# Usage: include_graph.sh SOURCE_ROOT. Prints every forbidden include; exit code 1 if there is one.
set -euo pipefail
cd "$1"

# folder -> project folders whose files it may include, besides its own; common/ledger stands for all of its rooms
declare -A allowed=(
  [common/base]=""
  [common/tables]="common/base"
  [common/charts]="common/base common/tables"
  [common/game]="common/base"
  [common/hindsight]="common/base common/game"
  [common/accounting]="common/base common/game common/hindsight"
  [common/workflow]="common/base"
  [common/reports]="common/base common/accounting common/protocol"
  [common/ledger/file]="common/base"
  [common/ledger/chain]="common/base"
  [common/ledger/encoding]="common/base common/accounting common/ledger/file common/ledger/chain"
  [common/ledger/projections]="common/base common/accounting common/ledger/file common/ledger/encoding"
  [common/ledger/store]="common/base common/accounting common/ledger/file common/ledger/chain common/ledger/encoding common/ledger/projections"
  [common/ledger/recovery]="common/base common/accounting common/ledger/file common/ledger/chain common/ledger/encoding common/ledger/projections common/ledger/store"
  [common/ledger/audit]="common/base common/accounting common/sacct common/ledger/file common/ledger/chain common/ledger/encoding common/ledger/projections common/ledger/store common/ledger/recovery"
  [common/ledger/archive]="common/base common/accounting common/ledger/file common/ledger/chain common/ledger/encoding common/ledger/projections common/ledger/store common/ledger/recovery common/ledger/audit"
  [common/ledger/replication]="common/base common/accounting common/ledger/file common/ledger/chain common/ledger/encoding common/ledger/projections common/ledger/store common/ledger/recovery"
  [common/ledger/consortium]="common/base common/accounting common/ledger/file common/ledger/chain common/ledger/encoding common/ledger/projections common/ledger/store common/ledger/recovery common/ledger/audit common/ledger/archive common/ledger/replication"
  [common/ledger/readers]="common/base common/accounting common/ledger/file common/ledger/chain common/ledger/encoding common/ledger/projections common/ledger/store common/ledger/recovery common/ledger/audit common/ledger/archive"
  [common/ledger/adjustments]="common/base common/accounting common/ledger/file common/ledger/chain common/ledger/encoding common/ledger/projections common/ledger/store common/ledger/recovery common/ledger/audit common/ledger/archive common/ledger/readers common/reports"
  [common/ledger/reports]="common/base common/accounting common/protocol common/reports common/ledger/file common/ledger/chain common/ledger/encoding common/ledger/projections common/ledger/store common/ledger/recovery common/ledger/audit common/ledger/archive common/ledger/replication common/ledger/consortium common/ledger/readers common/ledger/adjustments"
  [common/config]="common/game common/base common/accounting common/workflow"
  [common/protocol]="common/base"
  [common/request]="common/base common/game common/protocol"
  [common/health]="common/base common/accounting common/protocol"
  [common/remote]="common/base common/config"
  [common/rpc_client]="common/base common/protocol common/config common/remote"
  [common/sacct]="common/base common/protocol"
  [common/site_rules]="common/base common/accounting common/reports common/ledger common/config common/protocol common/sacct"
  [common/answers]="common/base common/accounting common/reports common/ledger common/config common/protocol common/site_rules"
  [daemon]="common/base common/answers common/request common/reports common/site_rules common/remote common/rpc_client common/game common/accounting common/ledger common/config common/protocol common/workflow daemon/observer"
  [daemon/observer]="common/base common/game common/accounting common/config common/protocol common/request"
  [ctl]="common/base common/answers common/tables common/charts common/accounting common/reports common/ledger common/protocol common/health common/rpc_client common/config common/sacct common/site_rules daemon/observer"
  [exporter]="common/base common/reports common/accounting common/protocol common/health common/rpc_client common/config"
  [lab/scheduling]="common/base common/game common/hindsight"
  [lab/planning]="common/base"
  [lab/workload]="common/base lab/scheduling"
  [lab/sim]="common/base common/tables common/charts common/game common/accounting common/ledger common/workflow common/config common/sacct common/site_rules lab/scheduling lab/planning lab/workload"
  [plugin/client]="common/base common/game common/protocol common/request"
  [plugin]="plugin/client"
)
# files that only common/ledger may include: they hand out SQL
inner=" common/ledger/file/database.hpp common/ledger/store/rows.hpp "
# regular expression of a third party's header -> folders or files that may include it
declare -A fenced=(
  ['sqlite3\.h$']="common/ledger/file"
  ['munge\.h$']="common/remote"
  ['openssl/']="common/ledger/chain"
  ['nlohmann/']="common/base/json.hpp common/reports common/tables common/ledger common/remote common/rpc_client daemon ctl exporter lab/sim"
  ['kainjow/']="common/tables"
  ['yaml-cpp/']="common/config"
  ['msgpack']="common/protocol"
  ['zlib\.h$']="lab/workload"
  ['lzma\.h$']="lab/workload common/ledger/archive"
  ['boost/asio']="daemon"
  ['boost/multiprecision']="common/hindsight common/workflow"
  ['spdlog/']="daemon"
  ['fmt/']="common/accounting common/answers common/charts common/config common/health common/ledger common/remote common/reports common/rpc_client common/sacct common/site_rules common/tables ctl daemon"
  ['CLI/']="daemon ctl exporter lab/sim"
  ['prometheus/']="exporter"
  ['(slurm/|src/(api|common|database|interfaces|plugins|sched|slurmctld)/)']="plugin/slurm/slurm_compat.h"
  ['config\.h$']="plugin/slurm/slurm_compat.h"
)

bad=0
checked=0
complain() { echo "$1"; bad=1; }

declare -A exists=()
while IFS= read -r -d '' file; do exists[${file#./}]=1; done < <(find . \( -name .git -o -path ./build \) -prune -o -type f -print0)

# Sets `path` to $1 without . and .. ; what climbs out of the tree begins with ../
normalize() {
  local part parts=() out=()
  IFS=/ read -ra parts <<< "$1"
  for part in "${parts[@]}"; do
    case $part in
      '' | .) ;;
      ..) if [[ ${#out[@]} -gt 0 && ${out[-1]} != .. ]]; then unset 'out[-1]'; else out+=(..); fi ;;
      *) out+=("$part") ;;
    esac
  done
  local IFS=/
  path="${out[*]}"
}

# Sets `path` to the file of the tree that $1 includes with $2 ("..." or <...>), empty when it is none.
resolve() {
  local folder=${1%/*} header=${2:1:-1} try
  local places=("$header" "common/$header" "lab/$header")
  [[ $2 == \"* ]] && places=("$folder/$header" "${places[@]}")
  [[ $header == /* ]] && places=("${header#"$PWD"/}")
  for try in "${places[@]}"; do
    normalize "$try"
    [[ -n ${exists[$path]:-} ]] && return
  done
  path=""
}

# Sets `layer` to the longest listed folder that holds the file, empty when none does.
layer_of() {
  local folder
  layer=""
  for folder in "${!allowed[@]}"; do
    if [[ $1 == "$folder"/* && ${#folder} -gt ${#layer} ]]; then layer=$folder; fi
  done
}

within() {  # path, folders or files
  local place
  for place in $2; do
    [[ $1 == "$place" || $1 == "$place"/* ]] && return 0
  done
  return 1
}

check_own() {  # including file, its layer, the include, the file that it means
  layer_of "$4"
  [[ -n $layer ]] || { complain "$1: includes $3, which is $4, outside the layers"; return; }
  [[ $layer == "$2" ]] || within "$layer" "${allowed[$2]}" || complain "$1: includes $3 of $layer, which $2 may not use"
  [[ $inner != *" $4 "* ]] || within "$1" common/ledger || complain "$1: includes $3, which is for common/ledger only"
}

check_foreign() {  # including file, the include
  local header=${2:1:-1} pattern known=0
  for pattern in "${!fenced[@]}"; do
    [[ $header =~ (^|/)$pattern ]] || continue
    known=1
    within "$1" "${fenced[$pattern]}" || complain "$1: includes $2, which only ${fenced[$pattern]} may"
  done
  if [[ $2 == \"* && $known == 0 ]]; then complain "$1: includes $2, which is no file of the tree"; fi
}

while IFS= read -r file; do
  layer_of "$file"
  own=$layer
  [[ -n $own ]] || { complain "$file: in no layer of include_graph.sh"; continue; }
  checked=$((checked + 1))
  while IFS= read -r include; do
    if [[ $include != [\"\<]* ]]; then complain "$file: includes $include, which cannot be checked"; continue; fi
    resolve "$file" "$include"
    if [[ -n $path ]]; then check_own "$file" "$own" "$include" "$path"; else check_foreign "$file" "$include"; fi
  done < <(sed -nE -e 's/^[[:space:]]*#[[:space:]]*(include|include_next|import)[[:space:]]*("[^"]*"|<[^>]*>).*/\2/p; t' \
               -e 's/^[[:space:]]*#[[:space:]]*(include|include_next|import)\>[[:space:]]*(.*)/\2/p' "$file")
done < <(for folder in common daemon ctl exporter plugin lab/scheduling lab/planning lab/workload lab/sim; do
           [[ ! -d $folder ]] || find "$folder" -type f \( -name '*.hpp' -o -name '*.cpp' -o -name '*.h' -o -name '*.c' -o -name '*.in' \)
         done)

[[ $checked -gt 0 ]] || { echo "include_graph: no source file found under $1"; exit 1; }
[[ $bad == 0 ]] && echo "include_graph: $checked files, every include within its layer"
exit "$bad"

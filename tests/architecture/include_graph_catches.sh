#!/usr/bin/env bash
# Plants one forbidden include at a time in an empty tree and expects include_graph.sh to name it.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT

expect_caught() {  # folder, header
  rm -rf "${tree:?}"/*
  mkdir -p "$tree/$1"
  echo "#include \"$2\"" > "$tree/$1/planted.cpp"
  if "$here/include_graph.sh" "$tree" > /dev/null 2>&1; then
    echo "not caught: $2 in $1"
    exit 1
  fi
}

expect_caught common/base fairness/state.hpp
expect_caught common/fairness ledger/ledger.hpp
expect_caught common/fairness sqlite3.h
expect_caught common/protocol fairness/event.hpp
expect_caught common/ledger yaml-cpp/yaml.h
expect_caught plugin/client src/slurmctld/slurmctld.h
expect_caught plugin/client config/configuration.hpp
expect_caught daemon slurm/slurm.h
mkdir -p "$tree/common/base" && rm -rf "$tree/daemon" "$tree/plugin" && echo '#include "base/x.hpp"' > "$tree/common/base/fine.cpp"
"$here/include_graph.sh" "$tree" > /dev/null
echo "include_graph_catches: 8 planted includes caught, a clean tree passes"

#!/usr/bin/env bash
# Plants one forbidden include at a time in a small clean tree and expects include_graph.sh to name file and include.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT
planted=0

clean_tree() {  # with the targets of the includes below, so that what they mean is found
  rm -rf "${tree:?}"/*
  local file
  for file in common/base/error.hpp common/game/utility.hpp common/accounting/state/state.hpp common/accounting/events/event.hpp \
              lab/scheduling/instance.hpp common/config/configuration.hpp common/ledger/store/ledger.hpp common/ledger/file/database.hpp common/ledger/store/rows.hpp \
              common/ledger/chain/hash_chain.hpp common/ledger/audit/audit.hpp common/ledger/recovery/fold.hpp common/ledger/projections/projections.hpp \
              common/protocol/codec.hpp daemon/books/books.hpp plugin/slurm/slurm_compat.h plugin/records.h plugin/client/shapley_client.h tests/game/naive.hpp; do
    mkdir -p "$tree/${file%/*}"
    : > "$tree/$file"
  done
}

expect_caught() {  # file, what stands after #include, as written
  clean_tree
  mkdir -p "$tree/${1%/*}"
  echo "#include $2" >> "$tree/$1"
  local said
  if said=$("$here/include_graph.sh" "$tree" 2>&1); then
    echo "not caught: $2 in $1"
    exit 1
  fi
  if [[ $(grep -c . <<< "$said") != 1 || $said != "$1: includes $2"[,\ ]* ]]; then
    echo "caught, but not by name: $2 in $1"
    echo "$said"
    exit 1
  fi
  planted=$((planted + 1))
}

# an arrow that does not exist, in every way to write it
expect_caught common/base/planted.cpp '"accounting/state/state.hpp"'
expect_caught common/base/planted.cpp '"common/accounting/state/state.hpp"'
expect_caught common/base/planted.cpp '"../accounting/state/state.hpp"'
expect_caught common/base/planted.cpp '"./../../common/accounting/state/state.hpp"'
expect_caught common/base/planted.cpp '<accounting/state/state.hpp>'
expect_caught common/base/planted.cpp '<common/accounting/state/state.hpp>'
expect_caught common/base/planted.cpp "\"$tree/common/accounting/state/state.hpp\""
# and from a room of a layer
expect_caught common/ledger/audit/planted.cpp '"../../protocol/codec.hpp"'
# the two engines
expect_caught common/accounting/events/planted.hpp '"scheduling/instance.hpp"'
expect_caught lab/scheduling/policies/planted.cpp '"accounting/events/event.hpp"'
# the laboratory uses the product, never the other way round
expect_caught daemon/planted.cpp '"lab/scheduling/instance.hpp"'
expect_caught ctl/planted.cpp '"../lab/scheduling/instance.hpp"'
expect_caught common/hindsight/planted.cpp '<scheduling/instance.hpp>'
expect_caught common/game/planted.cpp '"accounting/events/event.hpp"'
expect_caught common/accounting/state/planted.cpp '"ledger/store/ledger.hpp"'
expect_caught common/protocol/planted.cpp '"accounting/events/event.hpp"'
expect_caught common/sacct/planted.cpp '"ledger/store/ledger.hpp"'
expect_caught lab/sim/planted.cpp '"daemon/books/books.hpp"'
expect_caught exporter/planted.cpp '"ledger/store/ledger.hpp"'
expect_caught plugin/planted.c '"base/error.hpp"'
expect_caught plugin/client/spool/planted.cpp '"config/configuration.hpp"'
expect_caught plugin/client/planted.cpp '"plugin/records.h"'
expect_caught plugin/client/planted.cpp '"../records.h"'
expect_caught plugin/client/planted.cpp '"../slurm/slurm_compat.h"'
# the ledger's inside
expect_caught daemon/planted.cpp '"ledger/store/rows.hpp"'
expect_caught lab/sim/planted.cpp '<ledger/store/rows.hpp>'
expect_caught ctl/planted.cpp '"../common/ledger/file/database.hpp"'
# and from one of its rooms up to another
expect_caught common/ledger/chain/planted.hpp '"ledger/file/database.hpp"'
expect_caught common/ledger/encoding/planted.cpp '"ledger/store/ledger.hpp"'
expect_caught common/ledger/projections/planted.cpp '"ledger/store/rows.hpp"'
expect_caught common/ledger/store/planted.cpp '"ledger/recovery/fold.hpp"'
expect_caught common/ledger/chain/planted.cpp '"../audit/audit.hpp"'
expect_caught common/ledger/replication/planted.cpp '"ledger/audit/audit.hpp"'
# tests may not be included, nor what does not exist, nor what only the preprocessor knows
expect_caught common/game/planted.cpp '"tests/game/naive.hpp"'
expect_caught common/game/planted.cpp '"../../tests/game/naive.hpp"'
expect_caught common/game/planted.cpp '"fairness/state.hpp"'
expect_caught common/game/planted.cpp 'STATE_HEADER'
# third parties
expect_caught common/accounting/state/planted.cpp '<sqlite3.h>'
expect_caught common/accounting/state/planted.cpp '</usr/include/sqlite3.h>'
expect_caught common/ledger/reports/planted.cpp '<sqlite3.h>'
expect_caught common/ledger/store/planted.cpp '<yaml-cpp/yaml.h>'
expect_caught lab/planning/planted.cpp '<boost/asio/io_context.hpp>'
expect_caught ctl/planted.cpp '"spdlog/spdlog.h"'
expect_caught ctl/planted.cpp '<prometheus/exposer.h>'
# Slurm's headers, in the plugin itself, too
expect_caught daemon/planted.cpp '<slurm/slurm.h>'
expect_caught plugin/client/planted.cpp '"src/slurmctld/slurmctld.h"'
expect_caught plugin/planted.c '"src/slurmctld/slurmctld.h"'
expect_caught plugin/planted.c '<slurm/slurm_errno.h>'
expect_caught plugin/planted.c '"../build/slurm-source/src/common/list.h"'
expect_caught plugin/planted.h '"config.h"'

# What is allowed passes, however it is written.
clean_tree
cat > "$tree/common/accounting/events/fine.cpp" <<'TEXT'
#include "accounting/events/event.hpp"
#include <vector>
#  include "event.hpp"
#include "../state/state.hpp"
#include "game/utility.hpp"
#include "common/base/error.hpp"
#include <base/error.hpp>
TEXT
echo '#include <sqlite3.h>' > "$tree/common/ledger/file/fine.cpp"
echo '#include "ledger/store/rows.hpp"' > "$tree/common/ledger/recovery/fine.cpp"
printf '#include "%s"\n' src/slurmctld/slurmctld.h slurm/slurm.h config.h > "$tree/plugin/slurm/slurm_compat.h"
printf '#include "%s"\n' plugin/client/shapley_client.h slurm/slurm_compat.h > "$tree/plugin/fine.c"
"$here/include_graph.sh" "$tree" > /dev/null || { echo "a clean tree does not pass:"; "$here/include_graph.sh" "$tree" || exit 1; }
echo "include_graph_catches: $planted planted includes caught by name, a clean tree passes"

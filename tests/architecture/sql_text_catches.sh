#!/usr/bin/env bash
# Plants one statement at a time in a small clean tree and expects sql_text.sh to name file and line.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT
planted=0
mkdir -p "$tree"/{common/ledger/store,common/ledger/reports,common/ledger/adjustments,common/config,daemon,ctl,lab/sim,plugin/client}

clean_tree() {
  find "$tree" -type f -delete
  echo 'const char* sql = "SELECT seq FROM events";' > "$tree/common/ledger/store/ledger.cpp"
  printf '%s\n' '// SELECT FROM WHERE: what a comment says' 'print("select a policy, from which all follows");' \
    'print("update the file, delete from it");' > "$tree/daemon/clean.cpp"
}

expect_caught() {  # file, its one line
  clean_tree
  printf '\n%s\n' "$2" > "$tree/$1"
  local said
  if said=$("$here/sql_text.sh" "$tree"); then
    echo "not caught in $1: $2"
    exit 1
  fi
  if [[ $said != "$1:2:"* || $(grep -c . <<< "$said") != 1 ]]; then
    echo "caught, but not by name in $1: $2"
    echo "$said"
    exit 1
  fi
  planted=$((planted + 1))
}

expect_caught daemon/planted.cpp 'auto rows = ledger.query("SELECT MAX(day) FROM books_by_day");'
expect_caught ctl/planted.hpp '    R"(SELECT organization)"'
expect_caught lab/sim/planted.cpp '         "FROM segments s WHERE s.end IS NOT NULL "'
expect_caught lab/sim/planted.cpp '         "GROUP BY s.job, s.anchor"'
expect_caught common/config/planted.cpp 'auto sql = "select text from configurations"s;'
expect_caught common/ledger/reports/planted.cpp 'auto rows = query(ledger, "SELECT text FROM heads");'
expect_caught common/ledger/adjustments/planted.cpp '    "ORDER BY s.kind, s.anchor, s.ordinal";'
expect_caught plugin/client/planted.cpp 'run("DELETE FROM events");'
expect_caught plugin/planted.c 'run("pragma synchronous = off");'
expect_caught daemon/planted.cpp 'run("INSERT INTO heads VALUES (1)");  // a comment behind it'

clean_tree
"$here/sql_text.sh" "$tree" > /dev/null || { echo "a clean tree does not pass:"; "$here/sql_text.sh" "$tree" || exit 1; }
echo "sql_text_catches: $planted planted statements caught by name, a clean tree passes"

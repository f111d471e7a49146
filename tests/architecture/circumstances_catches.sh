#!/usr/bin/env bash
# circumstances_catches.sh SOURCE_DIR: circumstances.sh finds a name that no test has, of each kind, and a row that names none.
set -euo pipefail
cd "$1"
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
mkdir -p "$folder/docs/internals"
ln -s "$PWD/tests" "$folder/tests"
page=docs/internals/circumstances.md
# caught WHAT SED_EXPRESSION: the page with that change is refused, and what is wrong is said.
caught() {
  sed -E "$2" "$page" >"$folder/$page"
  ! cmp -s "$page" "$folder/$page" || { echo "the page has nothing for: $2"; exit 1; }
  ! tests/architecture/circumstances.sh "$folder" >"$folder/said" || { echo "not found: $2"; exit 1; }
  grep -qF -- "$1" "$folder/said" || { cat "$folder/said"; exit 1; }
}
caught "there is no test Files.what_follows_no_link" 's/Files.what_is_written_follows_no_link/Files.what_follows_no_link/'
caught "there is no test books.bats: resized clouds" 's/books.bats: resized jobs/books.bats: resized clouds/'
caught "there is no test packaging_nothing" 's/packaging_upkeep/packaging_nothing/'
caught "A federation : no test is named" 's/^\| A federation \|.*/| A federation | |/'

#!/usr/bin/env bash
# The eleven changes of docs/internals/architecture.md and lab/README.md still work: a copy of the tree with all patches of `changes` is built as far as they say (Build:),
# and their tests pass (Tests:). Usage: build_changes.sh SOURCE_ROOT DIR; the copy is made in DIR.
set -euo pipefail
source=$(readlink -f "$1")
mkdir -p "$2"
tree=$(readlink -f "$2")/tree
rm -rf "$tree"
mkdir "$tree"
tar -C "$source" --exclude=./build --exclude=./.git -cf - . | tar -C "$tree" -xf -
cd "$tree"
for patch in tests/architecture/changes/*.patch; do patch --strip=1 --fuzz=0 --forward --batch --quiet <"$patch"; done
of_patches() { sed -nE "s/^$1: //p" tests/architecture/changes/*.patch | tr ' ' '\n' | sort -u; }
cmake --preset dev --log-level=NOTICE
of_patches Build | xargs cmake --build --preset dev --target
ctest --preset dev --no-tests=error -R "^($(of_patches Tests | paste -sd '|'))\$"

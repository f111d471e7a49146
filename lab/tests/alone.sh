#!/usr/bin/env bash
# The laboratory configured as a project of its own: it makes shapley-sim and its own tests, and no program of the product.
# Usage: alone.sh LAB. Exit code 1 if that is not so.
set -euo pipefail
build=$(mktemp -d)
trap 'rm -rf "$build"' EXIT
cmake -S "$1" -B "$build" -G Ninja --log-level=NOTICE
wanted=$(ninja -C "$build" -t commands all | grep -oE " -o [^ ]+")
grep -q ' bin/shapley-sim$' <<<"$wanted" || { echo "alone: shapley-sim is not built"; exit 1; }
for program in shapleyd shapleyctl; do
  ! grep -qE "/$program\$" <<<"$wanted" || { echo "alone: builds $program, which is the product's"; exit 1; }
done
tests=$(ctest --test-dir "$build" -N | sed -nE 's/^Total Tests: //p')
[[ $tests -ge 15 ]] || { echo "alone: only $tests tests"; exit 1; }
# One that needs the laboratory's own files and no program.
ctest --test-dir "$build" --no-tests=error --output-on-failure -R '^sim_experiment_claims$'
echo "alone: shapley-sim and $tests tests"

#!/usr/bin/env bash
# cmake/SlurmRelease.cmake lets the plugin be built for the releases that slurm_compat.h knows and the slurmctld that is here, and
# says of any other what is wrong and what to do.
# Usage: slurm_release_test.sh CMAKE SOURCE_FOLDER
set -euo pipefail
cmake=$1 source=$(readlink -f "$2")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

fail() { echo "slurm_release_test: $*" >&2; cat "$work/log" >&2; exit 1; }

# The module beside a header, so that the header can be another.
mkdir -p "$work/cmake" "$work/plugin/slurm" "$work/bin"
cp "$source/cmake/SlurmRelease.cmake" "$work/cmake/"
cp "$source/plugin/slurm/slurm_compat.h" "$work/plugin/slurm/"

# run CALL [OPTION...]: one call of the module.
run() {
  printf 'cmake_minimum_required(VERSION 3.20)\ninclude("%s")\n%s\n' "$work/cmake/SlurmRelease.cmake" "$1" > "$work/call.cmake"
  "$cmake" "${@:2}" -P "$work/call.cmake" > "$work/log" 2>&1
}
says() { tr -s ' \n' ' ' < "$work/log" | grep -qF -- "$1" || fail "does not say: $1"; }
slurmctld() { printf '#!/bin/sh\n%s\n' "$2" > "$1"; chmod +x "$1"; }

# ---- releases that the header knows
known() { run "shapley_check_known_release(\"$1\")" "${@:2}"; }
for version in 22.05.8 23.11.11 24.11.5 26.05.3 26.05.0-0rc1; do known "$version" || fail "refuses $version"; done
known 21.08.5 -DSHAPLEY_UNTESTED_SLURM=ON && fail "takes 21.08, against which nothing compiles"
says "Slurm 21.08 is not supported"
known nonsense && fail "takes what is no version"
known 99.11.1 && fail "takes a release that the header does not know"
line=$(grep -n '#define SHAPLEY_SLURM_RELEASES' "$work/plugin/slurm/slurm_compat.h" | cut -d: -f1)
says "add 99.11 at $work/plugin/slurm/slurm_compat.h:$line"
says "-DSHAPLEY_UNTESTED_SLURM=ON"
known 99.11.1 -DSHAPLEY_UNTESTED_SLURM=ON || fail "does not try an unknown release on request"
says "never tried with Slurm 99.11"
# The line that it names is the line to change.
sed -i "${line}s/\"\$/ 99.11\"/" "$work/plugin/slurm/slurm_compat.h"
known 99.11.1 || fail "the line that it names is not the one that it reads"
sed -i '/SHAPLEY_SLURM_RELEASES/d' "$work/plugin/slurm/slurm_compat.h"
known 22.05.8 && fail "goes on without the line"
says "has no line #define SHAPLEY_SLURM_RELEASES"

# ---- the slurmctld that will load the plugin
matches() { run "shapley_check_slurmctld(\"$1\" \"the tree\")" "${@:2}"; }
slurmctld "$work/bin/slurmctld" 'echo "slurm 25.11.7"'
slurmctld "$work/debian" 'echo "slurm-wlm 22.05.8"'
slurmctld "$work/broken" 'echo "no library" >&2; exit 127'
PATH=$work/bin:$PATH
matches 25.11.7 || fail "refuses the first slurmctld in PATH"
matches 22.05.8 && fail "builds for 22.05.8 with 25.11.7 first in PATH"
says "$work/bin/slurmctld is 25.11.7, but the tree is 22.05.8"
says "-DSLURM_SOURCE_DIR=DIR"
says "-DSHAPLEY_SLURMCTLD=PATH"
matches 25.11.6 && fail "takes another micro release"
matches 22.05.8 "-DSHAPLEY_SLURMCTLD=$work/debian" || fail "does not take the slurmctld that is named"
matches 25.11.7 "-DSHAPLEY_SLURMCTLD=$work/debian" && fail "ignores the slurmctld that is named"
matches 22.05.8 -DSHAPLEY_SLURMCTLD=none || fail "does not leave out the comparison on request"
for path in broken missing; do
  matches 22.05.8 "-DSHAPLEY_SLURMCTLD=$work/$path" && fail "takes a slurmctld that is $path"
  says "$work/$path -V does not print its version"
done
echo "slurm_release_test: known releases and the slurmctld that is here are taken, any other is refused with the remedy"

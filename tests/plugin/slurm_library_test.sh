#!/usr/bin/env bash
# cmake/SlurmLibrary.cmake finds Slurm's library of the right version, or fails and says what is needed.
# Usage: slurm_library_test.sh CMAKE SLURM_LIBRARY_CMAKE SLURM_PLUGIN_DIR SLURM_VERSION
set -euo pipefail
cmake=$1 module=$2 folder=$3 version=$4
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

fail() { echo "slurm_library_test: $*" >&2; cat "$work/log" >&2; exit 1; }

# find FOLDER VERSION [TREE]
find_library() {
  "$cmake" -DSLURM_PLUGIN_DIR="$1" -DSHAPLEY_SLURM_VERSION="$2" -Dshapley_slurm_tree="${3:-$work}" -P "$module" >"$work/log" 2>&1
}
says() { tr -s ' \n' ' ' <"$work/log" | grep -qF -- "$1" || fail "does not say: $1"; }

find_library "$folder" "$version" || fail "does not take $folder"
says "Slurm library: $version in $folder"

find_library "$work/missing" "$version" && fail "takes a folder that does not exist"
says "it has no libslurmfull.so"
says "-DSLURM_PLUGIN_DIR=DIR"
says "-DBUILD_TESTING=OFF"

find_library "$folder" "1.2.3" && fail "takes a library of another version"
says "its libslurmfull.so is of another version"

# Not given: where the source tree installs to.
mkdir -p "$work/tree" && ln -s "$folder" "$work/slurm"
printf '%s\n' "PACKAGE = slurm" "exec_prefix = \${prefix}" "libdir = \${exec_prefix}" "pkglibdir = \$(libdir)/\$(PACKAGE)" "prefix = $work" >"$work/tree/Makefile"
find_library "" "$version" "$work/tree" || fail "does not find where the source tree installs to"
says "Slurm library: $version in $work/slurm"
echo "slurm_library_test: found where it is, refused where it is missing or of another version"

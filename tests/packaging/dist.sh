#!/usr/bin/env bash
# The source tarball holds what a build needs: configured without git and, where the kernel lets us, without network, and every file that
# the build's own lists, the tests and the packages name is in it.
# Usage: dist.sh SOURCE_DIR
set -euo pipefail
source=$1
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
die() { echo "dist: $*"; exit 1; }
version=$("$source/packaging/tools/version")
mkdir "$dir/1" "$dir/2"
tarball=$("$source/packaging/tools/dist" "$dir/1")
[[ $tarball == */slurm-shapley-$version.tar.gz ]] || die "it is named $tarball"
"$source/packaging/tools/dist" "$dir/2" >/dev/null
cmp "$tarball" "$dir/2/${tarball##*/}" || die "the same files make another tarball"
tar -C "$dir" -xf "$tarball"
[[ $(ls "$dir") == $'1\n2\nslurm-shapley-'$version ]] || die "it unpacks to more than one folder: $(ls "$dir")"
tree=$dir/slurm-shapley-$version
[[ ! -e $tree/.git && ! -e $tree/build ]] || die "it holds git's or the build's own files"
find "$tree" -type f >"$dir/files"
# Every header that a source includes by our own paths, and every file that packages are made of.
while IFS=: read -r file include; do
  include=${include##*../}
  grep -qE "(^|/)${include//./\\.}\$" "$dir/files" || die "$file includes $include"
done < <(grep -rHoE --include='*.[ch]pp' --include='*.[ch]' '^#include "[^"]+"' "$tree" | sed 's/:#include "/:/; s/"$//' | grep -vE ':(slurm|src|config)[/.]')
for file in dev LICENSE packaging/debian/{control,rules,changelog} packaging/rpm/slurm-shapley.spec; do [[ -e $tree/$file ]] || die "$file is missing"; done
[[ -x $tree/dev && -x $tree/packaging/debian/rules ]] || die "scripts are not executable"

# git answers with an error, as if it were not installed.
mkdir "$dir/bin"
printf '#!/bin/sh\nexit 127\n' >"$dir/bin/git"
chmod +x "$dir/bin/git"
alone=()
unshare --net true 2>/dev/null && alone=(unshare --net)
PATH=$dir/bin:$PATH "${alone[@]}" cmake -S "$tree" -B "$dir/build" -G Ninja -DSHAPLEY_PLUGIN=OFF -DBUILD_TESTING=OFF >"$dir/log" 2>&1 ||
  { cat "$dir/log"; die "the unpacked tarball cannot be configured"; }
! PATH=$dir/bin:$PATH "$tree/packaging/tools/dist" "$dir/1" >"$dir/log" 2>&1 || die "a tarball is made where there is no clone"
grep -q 'is made in a clone' "$dir/log" || die "why there is none is not said: $(cat "$dir/log")"
echo "dist: $(tar -tf "$tarball" | wc -l) files, configured without git${alone:+ and without network}"

#!/usr/bin/env bash
# cmake/fetch_slurm_source.sh fetches the very revision with the distribution's patches, also from a mirror that has lost the .dsc,
# and never configures a tree without the patches. The mirrors are folders, the package a small one of that name.
# Usage: fetch_slurm_source_test.sh FETCH_SLURM_SOURCE
set -euo pipefail
fetch=$1
for program in apt-get dpkg-source dpkg-scansources; do
  command -v "$program" > /dev/null || { echo "fetch_slurm_source_test: no $program here, so nothing is fetched from a distribution"; exit 0; }
done
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

fail() { echo "fetch_slurm_source_test: $*" >&2; cat "$work/log" >&2; exit 1; }

# ---- the package: a patch changes the header
package=$work/package/slurm-wlm-22.05.8
mkdir -p "$package"
echo 'int fields;' > "$package/structure.h"
printf '#!/bin/sh\ncp structure.h config.h\n' > "$package/configure"
chmod +x "$package/configure"
tar -C "$work/package" -cJf "$work/package/slurm-wlm_22.05.8.orig.tar.xz" slurm-wlm-22.05.8
mkdir -p "$package/debian/source" "$package/debian/patches"
echo '3.0 (quilt)' > "$package/debian/source/format"
echo security > "$package/debian/patches/series"
printf '%s\n' '--- a/structure.h' '+++ b/structure.h' '@@ -1 +1,2 @@' ' int fields;' '+int added_by_the_distribution;' > "$package/debian/patches/security"
printf '%s\n' 'Source: slurm-wlm' 'Maintainer: Nobody <nobody@example.org>' 'Standards-Version: 4.6.2' '' 'Package: slurmctld' \
  'Architecture: any' 'Description: none' > "$package/debian/control"
# revision VERSION: its files, beside the tarball that all share.
revision() {
  printf '%s\n' "slurm-wlm ($1) stable; urgency=low" '' '  * Security.' '' \
    ' -- Nobody <nobody@example.org>  Thu, 01 Jan 2026 00:00:00 +0000' > "$package/debian/changelog"
  (cd "$work/package" && dpkg-source -b slurm-wlm-22.05.8 > "$work/log" 2>&1) || fail "the package cannot be made"
}
revision 22.05.8-4
revision 22.05.8-4+deb12u3

# mirror NAME REVISION [MISSING...]: a mirror whose list names all files of the revision, without those that match. Its deb-src
# line goes to NAME.list.
mirror() {
  mkdir "$work/$1"
  cp "$work/package/slurm-wlm_22.05.8.orig.tar.xz" "$work/package/slurm-wlm_$2".d* "$work/$1/"
  (cd "$work/$1" && dpkg-scansources . > Sources 2> /dev/null)
  local missing
  for missing in "${@:3}"; do rm "$work/$1"/*"$missing"; done
  echo "deb-src [trusted=yes] file:$work/$1 ./" > "$work/$1.list"
}
mirror complete 22.05.8-4+deb12u3
mirror without_dsc 22.05.8-4+deb12u3 .dsc
mirror without_patches 22.05.8-4+deb12u3 .dsc .debian.tar.xz
mirror patches_only 22.05.8-4+deb12u3 .dsc .orig.tar.xz
mirror another_revision 22.05.8-4 .dsc .debian.tar.xz
get() { "$fetch" "${version:-22.05.8-4+deb12u3}" "$work/got-$1" "$work/$1.list" > "$work/log" 2>&1; }
has_patches() { grep -qx 'int added_by_the_distribution;' "$work/got-$1/config.h" || fail "the tree from $1 was configured without the patches"; }

get complete || fail "does not fetch a package that is whole"
has_patches complete
get without_dsc || fail "needs the .dsc"
has_patches without_dsc
grep -q 'no mirror has the .dsc' "$work/log" || fail "does not say that the .dsc is missing"

get without_patches && fail "goes on without the distribution's patches"
[[ ! -e $work/got-without_patches ]] || fail "leaves a tree without the patches"
grep -q "no mirror has slurm-wlm_22.05.8-4+deb12u3.debian.tar.[*], the distribution's patches" "$work/log" || fail "does not say what is missing"

# What one mirror lacks another may have, even one that lists another revision with the same tarball.
for other in without_patches another_revision; do
  cat "$work/patches_only.list" "$work/$other.list" > "$work/$other-and-patches.list"
  get "$other-and-patches" || fail "does not put together what two mirrors have"
  has_patches "$other-and-patches"
done

version=22.05.8-4+deb12u4 get complete || true
[[ -f $work/got-complete/.shapley-configured ]] || fail "touches a tree that is there"
rm -rf "$work/got-complete"
version=22.05.8-4+deb12u4 get complete && fail "takes another revision than it was asked for"
[[ ! -e $work/got-complete ]] || fail "leaves a tree of another revision"
echo "fetch_slurm_source_test: the very revision with its patches, or nothing"

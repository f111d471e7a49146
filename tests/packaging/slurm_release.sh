#!/usr/bin/env bash
# Which slurmctld the plugins' package depends on: of the release in the source tree's META, in any revision, with the distribution's epoch.
# Usage: slurm_release.sh SOURCE_DIR
set -euo pipefail
program=$1/packaging/debian/slurm_release
tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT
mkdir "$tree/debian"
die() { echo "slurm_release: $*"; exit 1; }

# depends META [DEBIAN_VERSION]: what it says for such a tree.
depends() {
  printf '  Name: slurm\n  Version: %s\n  Release:\t1\n' "$1" >"$tree/META"
  rm -f "$tree/debian/changelog"
  [[ -z ${2:-} ]] || printf 'slurm-wlm (%s) unstable; urgency=medium\n\n  * No change.\n\n -- A <a@example.org>  Sun, 22 Nov 2026 12:00:00 +0000\n' "$2" >"$tree/debian/changelog"
  "$program" substvars "$tree" | sed -n 's/^slurm:Depends=//p'
}
# expect LOWEST NEXT META [DEBIAN_VERSION]
expect() {
  local wanted="slurmctld (>= $1) | slurm-client (>= $1), slurmctld (<< $2) | slurm-client (<< $2)" found
  found=$(depends "${@:3}")
  [[ $found == "$wanted" ]] || die "for '${*:3}': '$found', not '$wanted'"
}
expect 22.05.8 22.05.9 22.05.8 22.05.8-4+deb12u3
expect 22.05.9 22.05.10 22.05.9
expect 25.11.0 25.11.1 25.11.0
expect 23.02.08 23.02.9 23.02.08
expect 1:24.11.5 1:24.11.6 24.11.5 1:24.11.5-4
# What Debian and its derivatives make of a number lies inside, what follows outside.
for version in 22.05.8-4 22.05.8-4+deb12u3 22.05.8-1~bpo11+1 22.05.8+dfsg-1; do
  dpkg --compare-versions "$version" ge 22.05.8 && dpkg --compare-versions "$version" lt 22.05.9 || die "$version is left out"
done
for bad in "" 22.05 24.11.5-0rc1 22.05.8.1 words; do
  printf '  Version: %s\n' "$bad" >"$tree/META"
  ! said=$("$program" version "$tree" 2>&1) || die "'$bad' is taken for a release"
  [[ $said == *"no release of the form"* ]] || die "'$bad': $said"
done
echo "slurm_release: the dependency names one release"

#!/usr/bin/env bash
# Fetches the distribution's source package of Slurm, patches applied, and configures it, so that the plugin is compiled
# against the very structures of the slurmctld that will load it.
#
# Usage: fetch_slurm_source.sh VERSION DESTINATION
#   VERSION      Debian version of slurmctld, such as 22.05.8-4+deb12u3
#   DESTINATION  folder that will hold the configured tree; left untouched when it is there already
#
# apt works on a sources list, package lists and caches of its own under DESTINATION's parent: neither /etc/apt nor
# /var/lib/apt is written, and no privileges are needed. On failure nothing is left at DESTINATION.
set -euo pipefail
version=$1
destination=$2
upstream=${version#*:}
upstream=${upstream%-*}
work=$destination.part

say() { echo "slurm source: $*"; }
give_up() { say "$*" >&2; exit 1; }

mkdir -p "$(dirname "$destination")"
exec 9> "$destination.lock"
flock 9  # two presets may be configured at the same time
[[ -f $destination/.shapley-configured ]] && exit 0

rm -rf "$work" "$destination"
mkdir -p "$work/lists/partial" "$work/cache/archives/partial"

# The machine's own mirrors first; Debian's own when apt has none configured.
apt-get indextargets --no-release-info --format 'deb-src $(REPO_URI) $(RELEASE) $(COMPONENT)' 'Created-By: Packages' \
  2> "$work/apt.log" | sort -u > "$work/sources.list" || true
if [[ ! -s $work/sources.list ]]; then
  . /etc/os-release
  printf 'deb-src %s\n' "http://deb.debian.org/debian $VERSION_CODENAME main" \
    "http://deb.debian.org/debian-security $VERSION_CODENAME-security main" > "$work/sources.list"
fi
apt=(apt-get -q -o Dir::Etc::SourceParts=/dev/null -o "Dir::State::Lists=$work/lists" -o "Dir::Cache=$work/cache"
     -o APT::Sandbox::User=)

say "reading the source package lists"
"${apt[@]}" -o "Dir::Etc::SourceList=$work/sources.list" update >> "$work/apt.log" 2>&1 ||
  say "some lists could not be read; going on with the others"

# One mirror after the other, because one may list a package whose files it no longer has. The exact revision or none: a
# security fix may change a structure.
cd "$work"
while IFS= read -r line && [[ ! -d slurm-wlm-$upstream ]]; do
  echo "$line" > one.list
  say "fetching slurm-wlm $version from ${line#deb-src }"
  "${apt[@]}" -o "Dir::Etc::SourceList=$work/one.list" source "slurm-wlm=$version" >> apt.log 2>&1 || true
done < sources.list
[[ -d slurm-wlm-$upstream ]] || { tail -n 5 apt.log >&2; give_up "no mirror gave the source package $version"; }

say "configuring Slurm $upstream (half a minute, once)"
cd "slurm-wlm-$upstream"
# Only headers are wanted. Where it matters this is Debian's own way: NDEBUG is defined, several slurmds share a host.
./configure --disable-debug --enable-multiple-slurmd --without-munge > configure.log 2>&1 ||
  { tail -n 5 configure.log >&2; give_up "configure failed"; }
touch .shapley-configured
cd "$work"
mv "slurm-wlm-$upstream" "$destination"
rm -rf "$work"
say "ready in $destination"

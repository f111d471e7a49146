#!/usr/bin/env bash
# Fetches the distribution's source package of Slurm, patches applied, and configures it, so that the plugin is compiled
# against the very structures of the slurmctld that will load it.
#
# Usage: fetch_slurm_source.sh VERSION DESTINATION [MIRRORS]
#   VERSION      Debian version of Slurm's source package, such as 22.05.8-4+deb12u3
#   DESTINATION  folder that will hold the configured tree; left untouched when it is there already
#   MIRRORS      file of deb-src lines; without it the machine's own mirrors
#
# A mirror may lack one file of the package. Where it is the .dsc, the other two are enough: Slurm's own tarball and the
# distribution's patches, which may change a structure and not the version. Without the patches nothing is configured.
#
# apt works on a sources list, package lists and caches of its own under DESTINATION's parent: neither /etc/apt nor
# /var/lib/apt is written, and no privileges are needed. On failure nothing is left at DESTINATION.
set -euo pipefail
version=$1
destination=$2
mirrors=${3:+$(readlink -f "$3")}
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
if [[ -n $mirrors ]]; then
  cp "$mirrors" "$work/sources.list"
else
  apt-get indextargets --no-release-info --format 'deb-src $(REPO_URI) $(RELEASE) $(COMPONENT)' 'Created-By: Packages' \
    2> "$work/apt.log" | sort -u > "$work/sources.list" || true
fi
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
tree=slurm-wlm-$upstream
while IFS= read -r line && [[ ! -d $tree ]]; do
  echo "$line" > one.list
  say "fetching slurm-wlm $version from ${line#deb-src }"
  "${apt[@]}" -o "Dir::Etc::SourceList=$work/one.list" source "slurm-wlm=$version" >> apt.log 2>&1 || true
done < sources.list

# fetch_files: the package's files one by one, each from the first mirror whose file has the sum that the package's list gives.
# Slurm's own tarball is that of the other revisions, too, so the second round asks for any: a mirror of security fixes may have
# the patches only.
fetch_files() {
  local -A sums=()
  local package line uri name size sum
  rm -f slurm-wlm_*
  for package in "slurm-wlm=$version" slurm-wlm; do
    while IFS= read -r line; do
      echo "$line" > one.list
      while read -r uri name size sum; do
        [[ $package == slurm-wlm ]] || sums[$name]=$sum
        [[ ! -f $name && ${sums[$name]:-} == "$sum" ]] || continue
        /usr/lib/apt/apt-helper "${apt[@]:1}" download-file "${uri//\'/}" "$name" "$sum" >> apt.log 2>&1 || rm -f "$name"
      done < <("${apt[@]}" -o "Dir::Etc::SourceList=$work/one.list" source --print-uris "$package" 2>> apt.log | grep "^'")
    done < sources.list
  done
}

# unpack_without_dsc: as dpkg-source does for format 3.0 (quilt).
unpack_without_dsc() {
  local orig=(slurm-wlm_"$upstream".orig.tar.*) patches=(slurm-wlm_"${version#*:}".debian.tar.*)
  [[ -f ${orig[0]} ]] || return 0
  if [[ ! -f ${patches[0]} ]]; then
    give_up "no mirror has ${patches[0]}, the distribution's patches; Slurm's tarball alone is not what slurmctld $version was built from"
  fi
  say "no mirror has the .dsc: unpacking ${orig[0]} and the patches of ${patches[0]}"
  mkdir unpacked
  tar -x --strip-components=1 -C unpacked -f "${orig[0]}"
  tar -x -C unpacked -f "${patches[0]}"
  dpkg-source --before-build unpacked >> apt.log 2>&1 || { tail -n 5 apt.log >&2; give_up "the patches of ${patches[0]} do not apply"; }
  mv unpacked "$tree"
}

if [[ ! -d $tree ]]; then
  fetch_files
  unpack_without_dsc
fi
[[ -d $tree ]] || { tail -n 5 apt.log >&2; give_up "no mirror gave the source package $version"; }

say "configuring Slurm $upstream (half a minute, once)"
cd "$tree"
# Only headers are wanted. Where it matters this is Debian's own way: NDEBUG is defined, several slurmds share a host.
./configure --disable-debug --enable-multiple-slurmd --without-munge > configure.log 2>&1 ||
  { tail -n 5 configure.log >&2; give_up "configure failed"; }
touch .shapley-configured
cd "$work"
mv "$tree" "$destination"
rm -rf "$work"
say "ready in $destination"

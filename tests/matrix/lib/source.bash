# Where a release of Slurm is: its source, its installation, its library. To be sourced by `run`, which sets root, work, sources (--slurm-sources,
# or nothing) and prefixes (--prefix).

version_of() { "$1" -V 2>/dev/null | sed 's/.* //'; }

# installed_release: of the slurmctld in PATH, if there is one.
installed_release() { ! command -v slurmctld >/dev/null || version_of slurmctld; }

# releases_offered: whatever --slurm-sources has.
releases_offered() {
  [ -z "$sources" ] || printf '%s\n' "$sources"/* | sed -nE 's#.*/(slurm-|slurm-wlm-)?([0-9]+\.[0-9]+\.[0-9]+)(\.tar\.[a-z0-9]+)?$#\2#p'
}

# prefix_of RELEASE: the folder below which it is installed; fails where it is not.
prefix_of() {
  local prefix
  for prefix in "$prefixes/$1" "$(dirname "$(dirname "$(readlink -f "$(command -v slurmctld)")")")"; do
    [ "$(version_of "$prefix/sbin/slurmctld")" = "$1" ] && echo "$prefix" && return
  done
  return 1
}

# original_of RELEASE: its tree or tarball in --slurm-sources.
original_of() {
  local name
  for name in "$sources/$1" "$sources/slurm-$1" "$sources/slurm-wlm-$1" "$sources/slurm-$1".tar.*; do
    [ -n "$sources" ] && [ -e "$name" ] && echo "$name" && return
  done
  echo "there is no source of Slurm $1: give a folder with slurm-$1 or its tarball (--slurm-sources DIR)" >&2
  return 1
}

# own_tree RELEASE: a copy of its source in $work/slurm-RELEASE, configured for its prefix, in which may be built.
own_tree() {
  local tree=$work/slurm-$1 prefix=$prefixes/$1 original
  [ "$(cat "$tree/.shapley-configured" 2>/dev/null)" != "$prefix" ] || return 0
  original=$(original_of "$1") || return 1
  rm -rf "$tree"
  if [ -d "$original" ]; then cp -a "$original" "$tree"; else mkdir "$tree" && tar -C "$tree" --strip-components=1 -xf "$original"; fi || return 1
  grep -qE "^[[:space:]]*Version:[[:space:]]*$1[[:space:]]*\$" "$tree/META" || { echo "$original is not the source of Slurm $1" >&2; return 1; }
  # As Debian configures it. Without optimization Slurm builds twice as fast, and its structures are the same.
  (cd "$tree" && ./configure --prefix="$prefix" --disable-debug --enable-multiple-slurmd CFLAGS=-O0 CC="$(command -v ccache) gcc") || return 1
  echo "$prefix" >"$tree/.shapley-configured"
}

# configured_tree RELEASE PREFIX: the tree against which its plugins are compiled. Nothing where CMake itself takes the distribution's source: the
# distribution's slurmctld is installed, and may be patched.
configured_tree() {
  local original
  if [ -e "$work/slurm-$1/.shapley-configured" ]; then
    echo "$work/slurm-$1"
  elif [ "$2" != /usr ] || ! dpkg-query -W slurmctld >/dev/null 2>&1; then
    original=$(original_of "$1") || return 1
    if [ -e "$original/config.h" ]; then echo "$original"; else own_tree "$1" >&2 && echo "$work/slurm-$1"; fi
  fi
}

# install_slurm RELEASE: builds it into its prefix.
install_slurm() {
  own_tree "$1" || return 1
  make -C "$work/slurm-$1/src" -j "$(nproc)" install && [ "$(version_of "$prefixes/$1/sbin/slurmctld")" = "$1" ] && make -C "$work/slurm-$1/src" clean
}

# build_library RELEASE: what the unit tests link and load of a release that is not installed, into $work/slurm-RELEASE/library.
build_library() {
  local tree=$work/slurm-$1 part
  own_tree "$1" || return 1
  for part in common conmgr interfaces api plugins/priority; do
    [ ! -d "$tree/src/$part" ] || make -C "$tree/src/$part" -j "$(nproc)" || return 1
  done
  for part in api plugins/priority/multifactor; do
    make -C "$tree/src/$part" install-pkglibLTLIBRARIES pkglibdir="$tree/library" || return 1
  done
}

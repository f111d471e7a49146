#!/usr/bin/env bash
# rpm reads the spec file, the plugins require one release of Slurm, and what is installed is in a package, each file in one.
# Usage: spec.sh SOURCE_DIR BUILD
set -euo pipefail
spec=$1/packaging/rpm/slurm-shapley.spec
root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT
die() { echo "spec: $*"; exit 1; }
DESTDIR=$root cmake --install "$2" >/dev/null
plugins=$(dirname "$(find "$root" -name priority_shapley.so -printf '/%P\n')")
# As on a RHEL-like, but folders are Debian's.
macros=(--define "slurm_plugin_dir $plugins" --define "_unitdir /usr/lib/systemd/system" --define "_sysusersdir /usr/lib/sysusers.d"
        --define "_tmpfilesdir /usr/lib/tmpfiles.d" --define "_sbindir /usr/sbin")

# required VERSION LOWEST NEXT
required() {
  local found
  found=$(rpmspec -q --requires --define "slurm_version $1" "${macros[@]}" "$spec" | grep '^slurm [<>]' | sort | tr '\n' ';')
  [[ $found == "slurm < $3;slurm >= $2;" ]] || die "for Slurm $1 the plugins require '$found'"
}
required 24.11.5 24.11.5 24.11.6
required 25.05.9 25.05.9 25.05.10
! rpmspec -q --requires --without plugin "$spec" | grep '^slurm [<>]' || die "without plugins Slurm is required"
grep -q '^slurm-ohpc >= ' <<<"$(rpmspec -q --requires --define 'slurm_package slurm-ohpc' "$spec")" || die "another name of Slurm's package is not taken"

mapfile -t packaged < <(rpmspec -P "${macros[@]}" "$spec" | sed -n '/^%files/,/^%changelog/p' | sed -E 's/^%(doc|config\([a-z]*\)) //; s/\*$//' | grep '^/' | sort)
[[ ${#packaged[@]} -gt 10 ]] || die "%files names only ${packaged[*]}"
# The one file that the spec writes itself.
mkdir -p "$root/etc/shapley"
touch "$root/etc/shapley/shapleyd.yaml"
for file in "${packaged[@]}"; do [[ -e $root$file ]] || die "$file is in %files, but nothing installs it"; done
while read -r file; do
  holders=0
  for path in "${packaged[@]}"; do [[ $file != "$path" && $file != "$path"/* ]] || holders=$((holders + 1)); done
  [[ $holders -eq 1 ]] || die "$file is in $holders of the packages"
done < <(find "$root" -type f -printf '/%P\n')
echo "spec: ${#packaged[@]} entries, each file in one package"

#!/bin/sh
# install.sh BUILD: what `cmake --install` puts where, beneath a folder of its own; programs must run from there.
set -eu
root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT
DESTDIR=$root cmake --install "$1" >/dev/null
usr=$root/usr
for file in sbin/shapleyd bin/shapleyctl bin/shapley-sim lib/systemd/system/shapleyd.service share/man/man1/shapleyctl.1 \
  share/man/man1/shapley-sim.1 share/man/man5/shapleyd.yaml.5 share/man/man8/shapleyd.8 \
  share/doc/slurm-shapley/examples/shapleyd.yaml; do
  [ -f "$usr/$file" ] || { echo "not installed: /usr/$file" >&2; exit 1; }
done
for plugin in priority_shapley site_factor_shapley; do
  [ "$(find "$usr/lib" -path "*/slurm-wlm/$plugin.so" | wc -l)" -eq 1 ] || { echo "not installed: $plugin.so" >&2; exit 1; }
done
[ ! -e "$root/etc" ] || { echo "/etc belongs to the site" >&2; exit 1; }
# The unit starts what was installed.
grep -qx 'ExecStart=/usr/sbin/shapleyd .*' "$usr/lib/systemd/system/shapleyd.service"
"$usr/bin/shapleyctl" check-config "$usr/share/doc/slurm-shapley/examples/shapleyd.yaml"
"$usr/sbin/shapleyd" --version

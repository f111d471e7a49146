#!/bin/sh
# install.sh BUILD: what `cmake --install` puts where, beneath a folder of its own; programs must run from there, and a debugger must find
# their source lines with the component `debug` only.
set -eu
root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT
DESTDIR=$root cmake --install "$1" >/dev/null
usr=$root/usr
for file in sbin/shapleyd bin/shapleyctl lib/systemd/system/shapleyd.service libexec/slurm-shapley/upkeep \
  lib/systemd/system/shapley-upkeep@.service lib/systemd/system/shapley-upkeep-failed@.service lib/systemd/system/shapley-backup.timer \
  lib/systemd/system/shapley-audit.timer lib/systemd/system/shapley-month.timer \
  lib/systemd/system/shapley-live.service lib/systemd/system/shapley-live.timer \
  lib/systemd/system/shapley-standing.service lib/systemd/system/shapley-standing.timer share/man/man1/shapleyctl.1 \
  share/man/man5/shapleyd.yaml.5 share/man/man8/shapleyd.8 \
  share/doc/slurm-shapley/examples/shapleyd.yaml lib/sysusers.d/slurm-shapley.conf lib/tmpfiles.d/slurm-shapley.conf \
  share/doc/slurm-shapley/examples/prometheus/shapley.rules.yml share/doc/slurm-shapley/examples/grafana/shapley.json \
  share/bash-completion/completions/shapleyctl share/bash-completion/completions/shapleyd; do
  [ -f "$usr/$file" ] || { echo "not installed: /usr/$file" >&2; exit 1; }
done
if [ -x "$1/bin/shapley-exporter" ]; then
  for file in sbin/shapley-exporter lib/systemd/system/shapley-exporter.service share/man/man8/shapley-exporter.8 share/bash-completion/completions/shapley-exporter; do
    [ -f "$usr/$file" ] || { echo "not installed: /usr/$file" >&2; exit 1; }
  done
  grep -qx 'ExecStart=/usr/sbin/shapley-exporter .*' "$usr/lib/systemd/system/shapley-exporter.service"
  "$usr/sbin/shapley-exporter" --version
fi
programs="sbin/shapleyd bin/shapleyctl"
if [ -x "$1/bin/shapley-sim" ]; then
  programs="$programs bin/shapley-sim"
  for file in bin/shapley-sim share/man/man1/shapley-sim.1 share/doc/slurm-shapley-sim/examples/experiment.sbatch share/bash-completion/completions/shapley-sim; do
    [ -f "$usr/$file" ] || { echo "not installed: /usr/$file" >&2; exit 1; }
  done
fi
for plugin in priority_shapley site_factor_shapley; do
  [ "$(find "$usr/lib" -path "*/slurm-wlm/$plugin.so" | wc -l)" -eq 1 ] || { echo "not installed: $plugin.so" >&2; exit 1; }
done
[ ! -e "$root/etc" ] || { echo "/etc belongs to the site" >&2; exit 1; }
# Symbols cost no room: what runs is stripped, what a debugger wants is a component of its own.
[ ! -e "$usr/lib/debug" ] || { echo "debug files are installed without being asked for" >&2; exit 1; }
DESTDIR=$root cmake --install "$1" --component debug >/dev/null
for file in $programs "lib/*/slurm-wlm/priority_shapley.so" "lib/*/slurm-wlm/site_factor_shapley.so"; do
  file=$(find "$usr" -path "$usr/$file")
  if readelf -SW "$file" | grep -qE ' \.(debug_info|symtab) '; then echo "not stripped: $file" >&2; exit 1; fi
  id=$(readelf -n "$file" | sed -n 's/.*Build ID: //p')
  debug=$usr/lib/debug/.build-id/$(echo "$id" | cut -c1-2)/$(echo "$id" | cut -c3-).debug
  readelf -SW "$debug" 2>/dev/null | grep -q ' \.debug_info ' || { echo "no debug information of $file in $debug" >&2; exit 1; }
done
debug=$(find "$usr/lib/debug" -path "*$(readelf -n "$usr/sbin/shapleyd" | sed -n 's/.*Build ID: ..//p').debug")
line=$(addr2line -e "$debug" "0x$(nm "$debug" | sed -n 's/ T main$//p')")
case $line in */daemon/main.cpp:[0-9]*) ;; *) echo "the line of shapleyd's main is not found: $line" >&2; exit 1 ;; esac
# The unit starts what was installed.
grep -qx 'ExecStart=/usr/sbin/shapleyd .*' "$usr/lib/systemd/system/shapleyd.service"
"$usr/bin/shapleyctl" check-config "$usr/share/doc/slurm-shapley/examples/shapleyd.yaml"
"$usr/sbin/shapleyd" --version

#!/usr/bin/env bash
# consortium.sh BUILD: the cluster `north` of docs/operating/consortium.md by the packaged units under a systemd of their own (own_systemd), with the page's files and
# drop-ins: whose the key is, the network of the one that asks, the timer and the way of the file. The south is a shapleyd of another user's number. Needs to be root.
set -euo pipefail
if [ ! -e /own_systemd ]; then
  tests=$(dirname "$(readlink -f "$0")")
  exec "$tests/own_systemd" "$1" "$0" "$tests/../../docs/operating/consortium.md"
fi
source /own_systemd

# block SECTION: its first block, for one host.
block() { awk -v section="$1" '/^#/ { title = $0; sub(/^#+ /, "", title) } title == section && /^    / { print substr($0, 5); found = 1; next } found { exit }' /consortium.md; }
# drop_in UNIT: what the page has after `systemctl edit UNIT`.
drop_in() {
  mkdir -p "/etc/systemd/system/$1.service.d"
  sed -n "/^    # systemctl edit $1\$/,/^    # systemctl [^e]/s/^    //p" /consortium.md | grep -v '^#' | sed 's/10\.2\.0\.1/localhost/' >"/etc/systemd/system/$1.service.d/site.conf"
  [ -s "/etc/systemd/system/$1.service.d/site.conf" ] || die "the page has no drop-in for $1"
  must systemctl daemon-reload
}
status_has() { shapleyctl "${@:2}" status 2>/dev/null | grep -qE -- "$1"; }
at_south() { shapleyctl --socket /run/south/sock "$@"; }
south_answers() { at_south status >/dev/null 2>&1; }
config=/etc/shapley/shapleyd.yaml

step "two sites, one munge key"
ip link set lo up
systemd-sysusers
systemd-tmpfiles --create slurm-shapley.conf
echo "south:x:64555:64555::/nonexistent:/usr/sbin/nologin" >>/etc/passwd
mkdir -p /run/munge /srv
head -c 1024 /dev/urandom >/tmp/munge.key
chmod 600 /tmp/munge.key
must munged --force --key-file=/tmp/munge.key --pid-file=/tmp/munged.pid --log-file=/tmp/munged.log --seed-file=/tmp/munged.seed
install -d -o 64555 /run/south /var/lib/south /etc/south
{ printf 'mode: observe\nslurm_user: 64555\nledger: /var/lib/south/ledger.db\nsocket: /run/south/sock\nlisten: 127.0.0.1:7020\n'
  block "The south begins" | grep -v '^listen'; } >/etc/south/shapleyd.yaml
must setpriv --reuid=64555 --regid=64555 --clear-groups shapleyctl keygen /etc/south/key
start_south() {
  setpriv --reuid=64555 --regid=64555 --clear-groups shapleyd --config /etc/south/shapleyd.yaml >>/tmp/south.log 2>&1 &
  south=$!
  until_true south_answers
}
start_south
must at_south rename-cluster south --reason "first name"
{ echo "mode: observe"; block "The north begins"; } >"$config"
must shapleyctl keygen /etc/shapley/head.key
must systemctl enable --now shapleyd
must shapleyctl rename-cluster north --reason "first name"

step "the key that root made is not shapleyd's: said before, and by the reload"
cp /etc/south/key.pub /etc/shapley/south.pub
block "The north declares" | sed 's/south-ctl/127.0.0.1/' >>"$config"
must_fail shapleyctl check-config
grep -q 'signing_key: /etc/shapley/head.key: slurm, as which shapleyd runs, cannot read it; run: chown slurm: /etc/shapley/head.key' /tmp/said || die "said: $(cat /tmp/said)"
must_fail systemctl reload shapleyd
chown_of_page=$(sed -n 's/^    \$ \(chown .*\)/\1/p' /consortium.md | head -n 1)
eval "must ${chown_of_page:-false}"
must shapleyctl check-config
must systemctl reload shapleyd

step "the south declares: it reads a file"
cp /etc/shapley/head.key.pub /etc/south/north.pub
block "The south declares" | sed -e 's#/etc/shapley/head.key#/etc/south/key#' -e 's#/etc/shapley#/etc/south#' -e 's/^  name: uni/&\n  every: 1s/' >>/etc/south/shapleyd.yaml
kill "$south"
wait "$south" || die "the south ended: $(cat /tmp/south.log)"
start_south

step "the unit that asks has no network: the reason is said; with the page's drop-in another number of shapleyd's user is no obstacle"
until_true status_has 'gives this program no network'
drop_in shapleyd
must systemctl restart shapleyd
until_true status_has 'Others: +south, stated '

step "the timer writes the statement, and the site's way brings it"
printf '#!/bin/sh\necho "$(id -un) $*" >>/tmp/carried\n[ "$1" = --chmod=F644 ] && cp "$2" "${3#*:}.new" && mv "${3#*:}.new" "${3#*:}"\n' >/usr/bin/rsync
chmod 755 /usr/bin/rsync
install -m 666 /dev/null /tmp/carried
must systemctl start shapley-standing
[ "$(stat -L -c '%U %a' /var/lib/shapley-standing /var/lib/shapley-standing/standing)" = $'shapley-standing 755\nshapley-standing 644' ] ||
  die "modes: $(stat -L -c '%n %U %a' /var/lib/shapley-standing/*)"
setpriv --reuid=www-data --regid=www-data --clear-groups cat /var/lib/shapley-standing/standing >/tmp/said || die "a web server cannot read it"
drop_in shapley-standing
# The sandbox leaves nothing but the unit's own folder: the other host is not there.
printf 'ReadWritePaths=/srv\nPrivateTmp=no\nReadWritePaths=/tmp\n' >>/etc/systemd/system/shapley-standing.service.d/site.conf
must systemctl daemon-reload
chmod 1777 /srv
must systemctl enable --now shapley-standing.timer
until_true test -e /srv/north.standing
grep -qx 'shapley-standing --chmod=F644 /var/lib/shapley-standing/standing north@south-ctl:/srv/north.standing' /tmp/carried || die "carried by: $(cat /tmp/carried)"
until_true status_has 'Others: +north, stated ' --socket /run/south/sock
[ "$(systemctl list-timers --no-pager | grep -c shapley-standing.timer)" -eq 1 ] || die "timers: $(systemctl list-timers --no-pager)"

step "a statement that the other user cannot read is found before"
chmod 600 /srv/north.standing
must_fail shapleyctl check-config /etc/south/shapleyd.yaml
grep -q 'standing: /srv/north.standing: south, as which shapleyd runs, cannot read it; run: chmod a+r /srv/north.standing' /tmp/said || die "said: $(cat /tmp/said)"

step "where nothing can be stated nothing is sent, and the unit has not failed"
must systemctl stop shapley-standing.timer
must systemctl stop shapleyd
rm /srv/north.standing
must systemctl start shapley-standing
[ ! -e /srv/north.standing ] || die "an old statement was sent again"
! systemctl is-failed -q shapley-standing || die "the unit failed"

#!/usr/bin/env bash
# upkeep.sh BUILD: the packaged units under a systemd of their own (own_systemd): shapleyd, and each task of the upkeep once, by hand, by its timer whose time was
# missed, and failing. What they write is compared with what shapleyctl says of the same ledger. Needs to be root.
set -euo pipefail
if [ ! -e /own_systemd ]; then
  tests=$(dirname "$(readlink -f "$0")")
  # No time of a timer is one that clocks leave out when they go forward, in any zone of the next years.
  for timer in backup audit; do
    at=$(sed -n 's/^OnCalendar=.* \([0-9:]*\)$/\1:00/p' "$tests/../../packaging/shapley-$timer.timer")
    year=$(date +%Y)
    # Pairs of lines, the last second before a change and the first one after it, each with the time of that zone's clocks.
    find /usr/share/zoneinfo -type f -not -path '*/right/*' -not -name '*.*' -exec zdump -v -c "$year,$((year + 10))" {} + 2>/dev/null |
      awk -v at="$at" '$5 ~ /:59$/ { zone = $1; before = $12; next }
        $5 ~ /:00$/ && $1 == zone { ++changes; if (before < at && at < $12) { print zone, before, "to", $12; bad = 1 } }
        END { if (changes < 1000) print "zdump shows few changes"; exit bad || changes < 1000 }' ||
      { echo "upkeep: clocks leave out $at of shapley-$timer.timer there" >&2; exit 1; }
  done
  exec "$tests/own_systemd" "$1" "$0" "$tests/../../docs/operating/timers.md"
fi
source /own_systemd

step "a ledger with a month that ended"
systemd-sysusers
systemd-tmpfiles --create slurm-shapley.conf
now=$(date +%s)
month=$(date -u -d "$(date -u +%Y-%m-01) - 1 day" +%Y-%m)
first=$(date -u -d "$month-01" +%s)
long_ago=$(date -u -d "$month-01 - 2 months" +%s)
{
  echo "JobIDRaw|User|UID|Account|Submit|Start|End|State|AllocCPUS|NodeList"
  echo "30|daemon|1|physics|$long_ago|$long_ago|$((long_ago + 60))|COMPLETED|4|n1"
  for ((job = 1; job < 20; ++job)); do
    begin=$((first + job * 86400))
    account=physics node=n1
    [ $((job % 3)) -ne 0 ] || { account=biology; node=n$((1 + job % 2)); }
    echo "$job|daemon|1|$account|$begin|$begin|$((begin + 7200))|COMPLETED|4|$node"
  done
  echo "20|daemon|1|biology|$((now - 7200))|$((now - 7200))|$((now - 3600))|COMPLETED|4|n2"
} >/tmp/sacct
cat >/etc/shapley/shapleyd.yaml <<'Y'
mode: observe
signing_key: /etc/shapley/key
organizations:
  - name: physics
    accounts: [physics]
    nodes: [n1]
  - name: biology
    accounts: [biology]
    nodes: [n2]
Y
must shapleyctl keygen /etc/shapley/key
chown slurm /etc/shapley/key
printf 'n1 4\nn2 4\n' >/tmp/nodes
must as_slurm shapleyctl import --sacct /tmp/sacct --nodes /tmp/nodes --config /etc/shapley/shapleyd.yaml --ledger /var/lib/shapley/ledger.db
must systemctl start shapleyd
books=/var/lib/shapley-upkeep
! systemctl list-timers --no-pager | grep shapley || die "timers run that were not enabled"

step "backup"
must systemctl start shapley-upkeep@backup
today=$books/copies/ledger-$(date +%A).db
[ "$(stat -c '%U %a' "$books" "$today")" = $'slurm 750\nslurm 640' ] || die "modes: $(stat -c '%n %U %a' "$books" "$today")"
must_fail shapleyctl health --max-backup-age 1d --max-audit-age 1d
! grep -q 'no backup' /tmp/said || die "the backup is not known of: $(cat /tmp/said)"
grep -q 'no audit is known' /tmp/said || die "an audit is known of: $(cat /tmp/said)"

step "audit"
must systemctl start shapley-upkeep@audit
must_fail shapleyctl health --max-backup-age 1d --max-audit-age 1d  # the plugin is not connected
! grep -qE 'no (backup|audit)' /tmp/said || die "the audit is not known of: $(cat /tmp/said)"
until_true journal_has 'correct to the last unit' -u shapley-upkeep@audit

step "month"
must_fail shapleyctl health --max-papers-delay 1s
! grep -q papers /tmp/said || die "papers are known of: $(cat /tmp/said)"
must systemctl start shapley-upkeep@month
papers=$books/months/$month
[ "$(cd "$papers" && echo ./*)" = "./head ./report ./statement.csv ./statement.json ./statement.txt" ] || die "written: $(ls "$papers")"
shapleyctl statement --ledger "$today" --month "$month" | cmp - "$papers/statement.txt" || die "another statement"
shapleyctl statement --ledger "$today" --month "$month" --csv | cmp - "$papers/statement.csv" || die "another statement as CSV"
shapleyctl statement --ledger "$today" --month "$month" --json | cmp - "$papers/statement.json" || die "another statement as JSON"
grep -q '^physics *.* +\?-\?[0-9.]*[1-9]' "$papers/statement.txt" || die "a statement of nothing: $(cat "$papers/statement.txt")"
grep -q "^Statement: $month-01T00:00:00Z to " "$papers/statement.txt" || die "of another month: $(head -1 "$papers/statement.txt")"
grep -q '<svg' "$papers/report/index.html" || die "a report without charts"
grep -q 'Correct to the last unit' "$papers/report/index.html" || die "a report that is not audited"
[ "$(cd "$papers/report/organizations" && echo ./*)" = "./biology ./guests ./physics" ] || die "members' pages: $(ls "$papers/report")"
must shapleyctl audit "$today" --against-head "$papers/head" --public-key /etc/shapley/key.pub
[ -z "$(find "$books" -user root)" ] || die "files of root: $(find "$books" -user root)"

step "an earlier month is never overwritten"
echo "signed by hand" >>"$papers/statement.txt"
before=$(stat -c '%i %Y' "$papers"/* "$papers")
must systemctl start shapley-upkeep@month
[ "$before" = "$(stat -c '%i %Y' "$papers"/* "$papers")" ] || die "the month was written again"
until_true journal_has 'exists, and is kept' -u shapley-upkeep@month
mv "$papers" "$papers.given-out"
must systemctl start "shapley-upkeep@$month"
[ -f "$papers/statement.txt" ] || die "a month that was asked for was not written"
must_fail systemctl start "shapley-upkeep@$(date -u +%Y-%m)"
[ ! -e "$books/months/$(date -u +%Y-%m)" ] || die "a month that has not ended was written"
until_true journal_has "shapley-upkeep@$(date -u +%Y-%m) failed" -p err
must_fail systemctl start "shapley-upkeep@${month%-*}-00"
[ ! -e "$books/months/${month%-*}-00" ] || die "a month that does not exist was written"

step "months that failed are made up for with the next one"
earlier=$(date -u -d "$month-01 - 2 months" +%Y-%m) between=$(date -u -d "$month-01 - 1 month" +%Y-%m)
mkdir "$books/months/$earlier"
must systemctl start shapley-upkeep@month
[ -f "$books/months/$between/statement.txt" ] || die "the papers of $between were forgotten"
rm -r "${books:?}/months/$earlier" "$books/months/$between"

step "a month whose papers are missing is known to health, until they are written"
must_fail shapleyctl health --max-papers-delay 1s  # the plugin is not connected
grep -q 'papers_age=' /tmp/said || die "the papers are not known of: $(cat /tmp/said)"
! grep -q 'the papers of' /tmp/said || die "papers are missing: $(cat /tmp/said)"
must systemctl stop shapleyd
upkeep=/var/lib/shapley/ledger.db.upkeep
jq -c --argjson until "$first" '.papers.until = $until' "$upkeep" >/tmp/upkeep
cat /tmp/upkeep >"$upkeep"
must systemctl start shapleyd
must_fail shapleyctl health --max-papers-delay 1s
grep -q "the papers of $month are missing; the last ones are of $(date -u -d "$month-01 - 1 day" +%Y-%m)" /tmp/said || die "papers are not missed: $(cat /tmp/said)"
rm -r "$papers"
must systemctl start shapley-upkeep@month
must_fail shapleyctl health --max-papers-delay 1s
! grep -q 'the papers of' /tmp/said || die "papers are missing: $(cat /tmp/said)"

step "timers: enabled by the administrator; a time that was missed is made up for"
rm -rf "$papers" "$today"
must systemctl enable shapley-{backup,audit,month}.timer
mkdir -p /var/lib/systemd/timers
for timer in backup audit month; do
  touch -d '-40 days' "/var/lib/systemd/timers/stamp-shapley-$timer.timer"
done
must systemctl start shapley-{backup,audit,month}.timer
until_true test -e "$papers"
until_true test -e "$today"
idle() { ! systemctl is-active -q 'shapley-upkeep@*'; }
until_true idle
[ "$(systemctl list-timers --no-pager | grep -c 'shapley-.*\.timer')" -eq 3 ] || die "timers: $(systemctl list-timers --no-pager)"
next=$(TZ=UTC systemctl show -p NextElapseUSecRealtime --value shapley-month.timer)
[ "$(TZ=UTC date -u -d "${next#* }" +%d-%H:%M)" = 01-04:15 ] || die "the month comes at $next"
until_true journal_has "months/$month: written" -u shapley-upkeep@month

step "the page of the present, by a user of its own, readable for a web server"
must systemctl start shapley-live
[ "$(stat -L -c %a /var/lib/shapley-live /var/lib/shapley-live/index.html)" = $'755\n644' ] || die "modes: $(stat -L -c '%n %a' /var/lib/shapley-live/*)"
grep -q '<h2>Who goes first</h2>' /var/lib/shapley-live/index.html || die "no page of the present"
setpriv --reuid=www-data --regid=www-data --clear-groups cat /var/lib/shapley-live/index.html >/tmp/said || die "a web server cannot read it"

step "another folder and name, by a drop-in"
mkdir -p /srv/books /etc/systemd/system/shapley-upkeep@.service.d
chown slurm /srv/books
printf '[Service]\nEnvironment=SHAPLEY_UPKEEP=/srv/books SHAPLEY_COPY=ledger.db\nReadWritePaths=/srv/books\n' >/etc/systemd/system/shapley-upkeep@.service.d/folder.conf
must systemctl daemon-reload
must systemctl start shapley-upkeep@backup
must shapleyctl audit /srv/books/copies/ledger.db

step "a failed one is reported at priority err, and by mail where the administrator says so"
mkdir -p "/etc/systemd/system/shapley-upkeep-failed@.service.d"
sed -n '/^    # systemctl edit shapley-upkeep-failed@$/,/^$/s/^    //p' /timers.md | sed 1d >/etc/systemd/system/shapley-upkeep-failed@.service.d/mail.conf
grep -q 'mail -s' /etc/systemd/system/shapley-upkeep-failed@.service.d/mail.conf || die "the page has no drop-in for mail"
printf '#!/bin/sh\necho "$@" >/tmp/mail-arguments\ncat >/tmp/mail\n' >/usr/bin/mail
chmod +x /usr/bin/mail
must systemctl daemon-reload
must systemctl stop shapleyd
must_fail systemctl start shapley-upkeep@backup
until_true journal_has 'shapley-upkeep@backup failed; why: journalctl -u shapley-upkeep@backup' -p err -t shapley-upkeep
until_true test -s /tmp/mail
grep -q 'shapley-upkeep@backup failed' /tmp/mail-arguments || die "mail: $(cat /tmp/mail-arguments)"
grep -q 'shapleyctl: ' /tmp/mail || die "the mail does not say why: $(cat /tmp/mail)"
must shapleyctl audit /srv/books/copies/ledger.db

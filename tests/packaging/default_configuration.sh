#!/usr/bin/env bash
# The configuration that packages install: the example, but it leaves priorities alone and its organizations are comments.
# Usage: default_configuration.sh SOURCE_DIR SHAPLEYCTL
set -euo pipefail
make=$1/packaging/default_configuration example=$1/etc/shapleyd.yaml shapleyctl=$2
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
die() { echo "default_configuration: $*"; exit 1; }
"$make" <"$example" >"$dir/installed.yaml"
said=$("$shapleyctl" check-config "$dir/installed.yaml") && die "shapleyd would start without organizations"
[[ $(wc -l <<<"$said") -eq 2 && $said == *"organizations: missing"*"shapleyctl init"* ]] || die "more than the organizations is at fault: $said"
grep -q 'shapleyctl$' "$dir/installed.yaml" || die "it does not name init"
grep -qx 'mode: observe' "$dir/installed.yaml" || die "priorities are not left alone"
# Without the signs of comments, from the list on, it is the example again.
{ sed -n '/^# organizations:$/q;p' "$dir/installed.yaml"; sed -n '/^# organizations:$/,$p' "$dir/installed.yaml" | sed 's/^# \{0,1\}//'; } >"$dir/named.yaml"
"$shapleyctl" check-config "$dir/named.yaml" >/dev/null || die "the list in the comments is no configuration"
diff <(tail -n +5 "$dir/named.yaml") <(sed 's/^mode: .*/mode: observe/' "$example") || die "it is not the example"
! "$make" <<<"mode: observe" >/dev/null 2>&1 || die "another file than the example is taken for it"
echo "default_configuration: the example, without effect"

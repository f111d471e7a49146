#!/usr/bin/env bash
# look.py names every kind of fault, planted in one page.
set -euo pipefail
here=$(dirname "$(readlink -f "$0")")
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cat >"$dir/spoiled.html" <<'HTML'
<!DOCTYPE html><html><head><meta charset="utf-8"><style>body{background:#fff;color:#000}</style></head><body>
<div style="width:3000px">wide</div><p style="color:#ddd">pale</p><script>console.error('a fault')</script><img src="http://127.0.0.1:9/x.png">
<a download="x.csv" href="data:text/csv,a">save</a>
<figure><svg role="img" aria-label="First" viewBox="0 0 100 100" width="100" height="100" style="overflow:visible;--series-0:#00f">
<text x="90" y="50" fill="black">outside</text></svg></figure>
<figure><svg role="img" aria-label="Second" viewBox="0 0 200 100" width="200" height="100" style="--series-0:#fff;--series-1:#00f">
<path d="M0,0 L50,50" stroke="var(--series-0)"/><path d="M0,0 L50,50" stroke="var(--series-1)"/>
<text x="10" y="50">under</text><text x="14" y="50">over</text><text x="10" y="80" font-size="5">tiny</text></svg></figure>
<p>at 2026-11-01T00:00:00Z</p><div style="width:50px;overflow:auto" aria-label="Cut"><table><tr><td style="min-width:120px">1</td></tr></table></div>
</body></html>
HTML
printf 'b' >"$dir/x.csv"
if "$here/look.py" "$dir/out" "spoiled=$dir/spoiled.html" >"$dir/said"; then
  echo "catches: a page full of faults passes"
  exit 1
fi
wrong=0
for fault in 'the document is 3008 wide' 'spoiled-light-phone: is laid out 980 wide' '"pale": contrast' 'console: error' 'asks for http://127.0.0.1:9/x.png' 'x.csv as it is saved is not the file' \
  'First: a colour that does not follow' 'First: no marks' 'First: "outside" is cut off' 'Second: a mark of var(--series-0) has contrast 1.00' \
  '2026-11-01T00:00:00Z is not in words' 'Cut: goes on beyond its edge without a sign' 'Cut: the names of its rows scroll away' 'Second: "over" and "under" run into each other' 'Second: "tiny" is 5.0 pixels high' 'spoiled-dark-desktop: the ground is 255' 'spoiled-light-wide: charts and tables take 240 of 1920'; do
  grep -qF -- "$fault" "$dir/said" || { echo "catches: not named: $fault"; wrong=1; }
done
[[ $wrong == 0 ]] || { cat "$dir/said"; exit 1; }
echo "catches: every planted fault is named"

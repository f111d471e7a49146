#!/usr/bin/env bash
# What the pages of experiments say in words follows from their tables: ranges and extremes are computed again from the
# rows, and the sentence must hold them. Usage: experiment_claims.sh LAB
set -euo pipefail
pages=$1/docs
failed=0
checked=0

# range FORMAT: "least to greatest" of the numbers of standard input.
range() {
  awk -v format="$1" '
    NR == 1 || $1 < least { least = $1 }
    NR == 1 || $1 > greatest { greatest = $1 }
    END { printf format " to " format "\n", least, greatest }
  '
}

# says PAGE SENTENCE: the page has it, wherever its lines break.
says() {
  checked=$((checked + 1))
  if ! tr -s '\n ' '  ' <"$pages/$1" | grep -qF -- "$2"; then
    echo "$1 does not say \"$2\", which is what its table gives"
    failed=1
  fi
}

# The longest time without a start in a year of LPC-EGEE, under rules that the pattern matches.
no_start() {
  sed -n '/^LPC-EGEE\. Longest wait/,/^\(!\[\|#\)/p' "$pages/stability.md" |
    awk -F '|' '/^\| `/ { split($4, day, " / "); gsub(/[` ]/, "", $2); for (i in day) print $2, day[i] + 0 }' |
    grep -E "^($1) " | awk '{ if ($2 > most) most = $2 } END { printf "%.1f\n", most }'
}
own='(direct_contr|shapley_rate)'
says stability.md "goes without a start for up to $(no_start 'direct_contr@30d' | awk '{ printf "%.0f", $1 }') days (\`direct_contr@30d\`, LPC-EGEE 1.05), with .5 for $(no_start "$own@[0-9d]+/0\.5.*") at most"

# How many times closer hindsight is than shapley_rate: HEADING TRACE ORGANIZATIONS LENGTH.
hindsight() {
  sed -n "/^## $1/,\$p" "$pages/hindsight.md" | awk -F '|' -v trace="$2" -v k="$3" -v length_s="$4" '
    /^## / && ++headings > 1 { exit }
    /^\| [A-Z]/ { gsub(/[ *]/, "")
      if ($2 ~ trace && $3 ~ k && $4 ~ length_s "s$") { split($6, s, "("); split($7, h, "("); print s[1] / h[1] } }'
}
says hindsight.md "it is $(hindsight 'Unfairness' . . 5e5 | range %.1f) times closer to REF than \`shapley_rate\`"
says hindsight.md "it is $(hindsight 'Unfairness' LPC 5 5e4 | range %.1f | cut -d' ' -f1) times closer on LPC-EGEE and $(hindsight 'Unfairness' KTH 5 5e4 | range %.1f | cut -d' ' -f1) times on KTH-SP2"

# phi of attacks under hindsight: ATTACKS CASES.
phi() {
  awk -v attacks="^($1)\$" -v cases="^($2),\$" '
    /^    ## / { inside = $3 ~ /^hindsight:/ && $2 ~ cases }
    inside && $1 ~ attacks { print ($5 < 0 ? -$5 : $5) }' "$pages/strategy.md" | range %.2f
}
says strategy.md "its phi, which is small, rises by $(phi pinned load_0.80 | sed 's/.* to //') % instead of"
says strategy.md "keeps its wait: +$(phi junk_starts load_0.80 | sed 's/.* to 0*//') % of phi at .80"

# consortium CASE RULES COLUMN: that column from the right (3: SD, 2: SD of one) of the table of a case under direct_contr, in
# rows that the pattern matches.
consortium() {
  awk -v begin="    ## $1, direct_contr:" -v rules="^    ($2) +[0-9]" -v column="$3" '
    /^ *##/ { inside = index($0, begin) == 1 }
    inside && $0 ~ rules { print $(NF - column + 1) }' "$pages/consortium.md"
}
says consortium.md "In \`symmetric\` once a day costs $(consortium symmetric 'sum braking, every 1d' 3) points, once a week $(consortium symmetric 'sum braking, every 7d' 3):"
says consortium.md "it is $(consortium symmetric 'sum braking, every 1d, residual' 3) points once a day and $(consortium symmetric 'sum braking, every 7d, residual' 3) once a week"
says consortium.md "(\`SD ONE\`, $(consortium symmetric 'sum braking(, every 1h)?' 2 | range %.1f) points in \`symmetric\`"

[[ $failed == 0 ]] || exit 1
echo "$checked sentences follow from their tables"

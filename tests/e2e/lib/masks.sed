# What differs from run to run in what our commands and Slurm's print; the rest must be equal. Applied to both sides of a comparison.
# Times, durations and dates.
s/[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}Z?/TIME/g
s/[0-9]{4}-[0-9]{2}-[0-9]{2}/DATE/g
s/\b[0-9]{4}-[0-9]{2}\b/MONTH/g
s/\b[0-9]+ (s|min|minutes?|hours?|days?|weeks?)\b( ago)?/DURATION\2/g
s/just now/DURATION ago/g
# Hashes, versions, counts that depend on how often the status was asked for.
s/\b[0-9a-f]{16,}\b/HASH/g
s/\b[0-9]+\.[0-9]+\.[0-9]+\b/VERSION/g
s/\b[0-9,]+ (events?|segments?|instants?|statements?|signatures?|bytes)\b/COUNT \1/g
s/at event [0-9]+/at event N/
s/(events|age|free|ledger|log|commit)=[0-9.]+(e-[0-9]+)?/\1=N/g
# Amounts: with a fraction, a power of ten, or three digits and more. A zero may be one that was not yet any other; signs are compared.
s/\b[0-9][0-9,]*\.[0-9]+(e[+-]?[0-9]+)?\b/N/g
s/\b[0-9]+e[0-9]+\b/N/g
s/\b[0-9]{3,}\b/N/g
# Whether rounded amounts leave a rest is a matter of the amounts: rows here, columns before (masked in page.bash).
s/ \+ \(rounding\) =/ =/
/^ *(\(rounding\) |.* \(rounding\) )/d
# What cooperation was worth hangs on seconds, and who gains on who had to wait; ctl_documented_outputs compares all of it on a ledger that stays.
/^ *What cooperation was worth/,/^ *Before \+ Given/{
  /^ *(What cooperation|Before \+ Given)/!d
}
# The order of two fair-share factors hangs on when slurmctld computed usage last.
s/ daemon( +N){3} +[0-9]+$/ daemon N N N ORDER/
# What Slurm says of a job's start depends on when it planned last.
s/ Slurm expects it to start at TIME\.//
s/Job [0-9A-Z]+ to start at TIME (using .* processors) on nodes .* in partition/Job N to start at TIME \1 on nodes NODES in partition/
# Columns are as wide as what is in them.
s/ {2,}/ /g
s/-{2,}/--/g
s/^ //
s/ $//

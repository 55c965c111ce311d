#!/usr/bin/env bash
# Exploration of the C programs under rc11: executions, CPU time, and GenMC's time for a program of the same
# family. GenMC is measured now if `genmc` is on the PATH. Otherwise its figures (version 0.11) are taken from
# beside the repository, if they are there. CPU seconds of the exploration only, best of three. GenMC's programs
# are not the same text, so times per execution are compared; both include blocked executions.
. "$(dirname "$0")/ours.bash"

# "executions seconds" of GenMC.
genmcs() {
    if command -v genmc >/dev/null 2>&1; then
        genmc --rc11 -- $2 "corpus/programs/$1" 2>/dev/null | awk '
            /complete executions/ { n = $NF } /wall-clock/ { sub("s$", "", $NF); t = $NF } END { if (n) print n, t }'
    elif [ -n "$times" ]; then
        awk -F'\t' -v p="$3" -v q="$4" '$1 == p && $2 == q && $3 == "rc11" && $4 !~ /caching/ { print $5, $7; exit }' "$times"
    fi
}

rows=$(mktemp)
trap 'rm -f "$rows"' EXIT
echo "== C programs under rc11 (CPU time of the exploration)"
printf '%-21s %-42s %9s %9s %10s %9s %9s %7s\n' program flags executions blocked seconds us/exec GenMC ratio
while IFS='|' read -r file flags family size; do
    read -r executions blocked seconds <<<"$(ours rc11 "$file" "$flags")"
    read -r theirs their_seconds <<<"$(genmcs "$file" "$flags" "$family" "$size")" || true
    awk -v f="$file" -v g="$flags" -v n="$executions" -v b="$blocked" -v s="$seconds" -v m="${theirs:-0}" -v t="${their_seconds:-0}" 'BEGIN {
        us = s / n * 1e6
        # Times below the resolution of the figures mean nothing.
        their = m > 0 && t >= 0.02 ? t / m * 1e6 : 0
        printf "%-21s %-42s %9d %9d %10.4f %9.3f", f, g, n, b, s, us
        if (their > 0) printf " %9.1f %7.1f\n", their, their / us; else print "         -       -"
    }'
done <scripts/bench/programs.txt | tee "$rows"
awk '$NF + 0 > 0 { n++; sum += log($NF); if (!low || $NF < low) low = $NF }
    END { if (n) printf "geometric mean of %d ratios: %.1f, lowest %.1f\n", n, exp(sum / n), low }' "$rows"

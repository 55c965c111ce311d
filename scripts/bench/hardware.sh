#!/usr/bin/env bash
# The C programs under imm, compared with rc11 and with GenMC --imm: what do tracking dependencies and looking for
# load buffering cost? CPU seconds of the exploration only, best of three. GenMC's figures (version 0.11) are taken
# from beside the repository, if they are there. Its programs are not the same text, so times per execution are
# compared.
. "$(dirname "$0")/ours.bash"

genmcs() {
    [ -z "$times" ] || awk -F'\t' -v p="$1" -v q="$2" '$1 == p && $2 == q && $3 == "imm" { print $5, $7; exit }' "$times"
}

rows=$(mktemp)
trap 'rm -f "$rows"' EXIT
echo "== C programs under imm (CPU time of the exploration)"
printf '%-21s %-42s %9s %9s %9s %9s %9s %9s %7s\n' program flags executions blocked rc11 imm imm/rc11 GenMC/us ratio
while IFS='|' read -r file flags family size; do
    read -r _ _ base <<<"$(ours rc11 "$file" "$flags")"
    read -r executions blocked seconds <<<"$(ours imm "$file" "$flags")"
    read -r theirs their_seconds <<<"$(genmcs "$family" "$size")" || true
    awk -v f="$file" -v g="$flags" -v n="$executions" -v b="$blocked" -v r="$base" -v s="$seconds" -v m="${theirs:-0}" -v t="${their_seconds:-0}" 'BEGIN {
        # Times below the resolution of the figures mean nothing.
        their = m > 0 && t >= 0.02 ? t / m * 1e6 : 0
        printf "%-21s %-42s %9d %9d %9.4f %9.4f %9.2f", f, g, n, b, r, s, s / r
        if (their > 0) printf " %9.1f %7.1f\n", their, their / (s / n * 1e6); else print "         -       -"
    }'
done <scripts/bench/programs.txt | tee "$rows"
awk '{ n++; over += log($(NF - 2)); if ($NF + 0 > 0) { m++; sum += log($NF); if (!low || $NF < low) low = $NF } }
    END {
        if (n) printf "geometric mean of %d times over rc11: %.2f\n", n, exp(over / n)
        if (m) printf "geometric mean of %d ratios to GenMC: %.1f, lowest %.1f\n", m, exp(sum / m), low
    }' "$rows"

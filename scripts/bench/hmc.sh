#!/usr/bin/env bash
# The programs of the tables of the HMC paper (Kokologiannakis and Vafeiadis, ASPLOS 2020) under rc11, imm and armv8.
# The programs are written anew from the paper's description, so the paper's column (seconds on its authors' machine)
# and ours are not about the same text. Some programs run for a minute.
. "$(dirname "$0")/ours.bash"

echo "== the tables of the HMC paper (CPU seconds of the exploration)"
printf '%-18s %-44s %9s %8s %9s %9s %8s %9s %9s %9s\n' program flags executions blocked rc11 imm imm/rc11 armv8 "s, armv8" HMC
while IFS='|' read -r name file flags paper; do
    read -r _ _ rc11 <<<"$(ours rc11 "$file" "$flags")"
    read -r executions blocked imm <<<"$(ours imm "$file" "$flags")"
    read -r armv8_executions _ armv8 <<<"$(ours armv8 "$file" "$flags")" || true
    awk -v n="$name" -v f="$file $flags" -v e="$executions" -v b="$blocked" -v r="$rc11" -v i="$imm" \
        -v m="${armv8_executions:--}" -v a="${armv8:--}" -v p="$paper" 'BEGIN {
            if (a != "-") a = sprintf("%.4f", a)
            printf "%-18s %-44s %9d %8d %9.4f %9.4f %8.2f %9s %9s %9s\n", n, f, e, b, r, i, i / r, m, a, p }'
done <scripts/bench/hmc.txt

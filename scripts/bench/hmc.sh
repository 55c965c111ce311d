#!/usr/bin/env bash
# The programs of the tables of the HMC paper (Kokologiannakis and Vafeiadis, ASPLOS 2020) under rc11, imm and armv8.
# The programs are written anew from the paper's description, so its column (seconds on its authors' machine) and
# ours are not about the same text. Some run for a minute.
. "$(dirname "$0")/ours.bash"

echo "== the tables of the HMC paper (CPU seconds of the exploration)"
printf '%-18s %-42s %9s %8s %9s %9s %9s %8s %9s\n' program flags executions blocked rc11 imm armv8 imm/rc11 HMC
while IFS='|' read -r name file flags paper; do
    read -r _ _ rc11 <<<"$(ours rc11 "$file" "$flags")"
    read -r executions blocked imm <<<"$(ours imm "$file" "$flags")"
    read -r _ _ armv8 <<<"$(ours armv8 "$file" "$flags")"
    awk -v n="$name" -v f="$file $flags" -v e="$executions" -v b="$blocked" -v r="$rc11" -v i="$imm" -v a="$armv8" -v p="$paper" \
        'BEGIN { printf "%-18s %-42s %9d %8d %9.4f %9.4f %9.4f %8.2f %9s\n", n, f, e, b, r, i, a, i / r, p }'
done <scripts/bench/hmc.txt

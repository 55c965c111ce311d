#!/usr/bin/env bash
# The C programs compiled for armv8 and riscv, beside rc11: CPU seconds of the exploration only, best of three.
. "$(dirname "$0")/ours.bash"

rows=$(mktemp)
trap 'rm -f "$rows"' EXIT
echo "== C programs under armv8 and riscv (CPU time of the exploration)"
printf '%-21s %-42s %9s %9s %9s %9s %9s %9s %9s %9s\n' program flags executions blocked rc11 armv8 /rc11 as-many riscv /rc11
while IFS='|' read -r file flags _ _; do
    read -r executions blocked base <<<"$(ours rc11 "$file" "$flags")"
    read -r arm _ armed <<<"$(ours armv8 "$file" "$flags")"
    read -r risc _ risced <<<"$(ours riscv "$file" "$flags")"
    as_many=yes
    [ "$arm $risc" = "$executions $executions" ] || as_many="$arm/$risc"
    awk -v f="$file" -v g="$flags" -v n="$executions" -v b="$blocked" -v r="$base" -v a="$armed" -v v="$risced" -v m="$as_many" 'BEGIN {
        printf "%-21s %-42s %9d %9d %9.4f %9.4f %9.2f %9s %9.4f %9.2f\n", f, g, n, b, r, a, a / r, m, v, v / r
    }'
done <scripts/bench/programs.txt | tee "$rows"
awk '{ n++; risc += log($NF); arm += log($(NF - 3)) }
    END { if (n) printf "geometric means over rc11: armv8 %.2f, riscv %.2f\n", exp(arm / n), exp(risc / n) }' "$rows"

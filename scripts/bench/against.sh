#!/usr/bin/env bash
# Two builds of Porf in turns: cost per execution of this tree's against another one's, without reductions, in CPU
# seconds of the exploration (best of five runs of each).
# Usage: PORF_BASE=/path/to/the/other/porf make bench
. "$(dirname "$0")/ours.bash"
[ -n "${PORF_BASE:-}" ] || exit 0

# Older builds have no reductions to switch off.
plain=$("$PORF_BASE" verify --help | grep -q -- --no-reduce && echo "--no-reduce all" || true)

# BINARY FLAGS PROGRAM DEFINITIONS: "executions and blocked, seconds" of one run.
run() {
    local line
    line=$(timeout 120 "$1" verify $2 --format json --model rc11 "corpus/programs/$3" -- $4) || return 0
    echo "$(($(field executions <<<"$line") + $(field blocked <<<"$line"))) $(field cpu <<<"$line")"
}

echo "== this build against $PORF_BASE, without reductions (rc11)"
printf '%-21s %-42s %9s %10s %10s %7s\n' program flags executions "base, s" "this, s" ratio
while IFS='|' read -r file flags _; do
    base= this=
    for _ in 1 2 3 4 5; do
        base=$(printf '%s\n%s\n' "$base" "$(run "$PORF_BASE" "$plain" "$file" "$flags")" | awk 'NF == 2' | sort -g -k2 | head -1)
        this=$(printf '%s\n%s\n' "$this" "$(run "$porf" "--no-reduce all" "$file" "$flags")" | awk 'NF == 2' | sort -g -k2 | head -1)
        # One long run of each is enough.
        awk -v line="$base" 'BEGIN { split(line, part, " "); exit !(part[2] > 5) }' && break
    done
    awk -v f="$file" -v g="$flags" -v a="$base" -v b="$this" 'BEGIN {
        if (split(a, base, " ") != 2 || split(b, this, " ") != 2) exit
        if (base[1] != this[1]) { printf "%-21s %-42s %d and %d executions\n", f, g, base[1], this[1]; exit }
        ratio = base[2] > 0 ? this[2] / base[2] : 0
        printf "%-21s %-42s %9d %10.4f %10.4f %7.3f\n", f, g, this[1], base[2], this[2], ratio
    }'
done <scripts/bench/programs.txt

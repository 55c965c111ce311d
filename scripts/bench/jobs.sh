#!/usr/bin/env bash
# Throughput of `porf verify` with one and with two workers, on searches of more than 5 seconds.
# Usage: scripts/bench/jobs.sh   (on a machine with at least two free cores; about a minute)
set -euo pipefail
cd "$(dirname "$0")/../.."
cargo build --release -q -p porf-cli
porf="${CARGO_TARGET_DIR:-target}/release/porf"
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

program() { # NAME: a program in Porf's text form, to a file
    local n
    echo "program p"
    echo "global x"
    case $1 in
    ainc-*)
        for ((n = 0; n < ${1#ainc-}; n++)); do echo "thread P$n { x.fetch_add(1, rlx) }"; done ;;
    readers-*)
        echo "thread W { x.rel = 42 }"
        for ((n = 0; n < ${1#readers-}; n++)); do echo "thread P$n { a = x.acq }"; done ;;
    esac
}

echo "== throughput with two workers against one ($(nproc) cores, load $(cut -d' ' -f1 /proc/loadavg))"
printf '%-12s %12s %10s %10s %14s %14s %8s\n' program executions "s, 1 job" "s, 2 jobs" "per s, 1 job" "per s, 2 jobs" speed-up
for name in ainc-10 readers-26; do
    program "$name" >"$folder/$name.porf"
    for jobs in 1 2; do
        start=$(date +%s.%N)
        "$porf" --format json verify --jobs "$jobs" "$folder/$name.porf" >"$folder/$jobs.json"
        end=$(date +%s.%N)
        seconds[jobs]=$(awk "BEGIN { print $end - $start }")
        count[jobs]=$(grep -o '"executions":[0-9]*' "$folder/$jobs.json" | cut -d: -f2)
    done
    [ "${count[1]}" = "${count[2]}" ] || { echo "$name: ${count[1]} executions with one job, ${count[2]} with two"; exit 1; }
    awk -v name="$name" -v n="${count[1]}" -v a="${seconds[1]}" -v b="${seconds[2]}" \
        'BEGIN { printf "%-12s %12d %10.2f %10.2f %14.0f %14.0f %8.2f\n", name, n, a, b, n / a, n / b, a / b }'
done

#!/usr/bin/env bash
# What Porf does, in a minute: `make demo`.
set -euo pipefail
cd "$(dirname "$0")/.."
porf=${CARGO_TARGET_DIR:-target}/release/porf
say() { printf '\n\033[1m%s\033[0m\n' "$*"; }
tests() { local folder=$1; shift; for name in "$@"; do echo "corpus/litmus/$folder/$name.litmus"; done; }

say "Can the weak outcome be seen? Five classic tests in C, relaxed and then with more ordering."
$porf litmus --model sc,tso,pso,sra,ra,rc11 $(tests c11 \
    SB+rlx+rlx SB+fsc+fsc SB+sc+sc MP+rlx+rlx MP+poll+poaa LB+rlx+rlx 2+2W+rlx+rlx 2+2W+fsc+fsc \
    IRIW+rlx+rlx IRIW+poaa+poaa IRIW+sc+sc)

say "The same shapes in assembly, each under its architecture's model (and under SC)."
$porf litmus --model sc,tso $(tests x86_64 SB+po+po SB+mfence+mfence MP+po+po)
$porf litmus --model sc,armv8 $(tests aarch64 SB+po+po SB+dmb.sy+dmb.sy MP+po+po MP+dmb.sy+addr LB+po+po \
    LB+data+data 2+2W+po+po IRIW+addr+addr)
$porf litmus --model sc,power $(tests ppc SB+po+po SB+sync+sync MP+lwsync+po LB+po+po IRIW+addr+addr IRIW+sync+sync)
$porf litmus --model sc,riscv $(tests riscv SB+po+po SB+fence.rw.rw+fence.rw.rw MP+po+po LB+po+po IRIW+addr+addr)

say "One of them in full: message passing with relaxed accesses."
cat corpus/litmus/c11/MP+rlx+rlx.litmus
$porf litmus corpus/litmus/c11/MP+rlx+rlx.litmus

out=${CARGO_TARGET_DIR:-target}/demo
mkdir -p "$out"

say "And why: which cycle forbids it under TSO?"
$porf litmus --explain --model tso corpus/litmus/c11/MP+rlx+rlx.litmus

say "porf verify: every execution of a C program. It has a bug; the help names the line that repairs it."
cat examples/message.c
$porf verify --explain --html "$out/message.html" examples/message.c || true

say "porf sample: a native program, run again and again under a controlled scheduler."
$porf cc -g examples/message.c -o "$out/message"
$porf sample --executions 2000 --html "$out/sample.html" -- "$out/message" || true

say "porf prove: a lock without its fence, for any number of processes, under TSO. Then with the fence."
$porf prove corpus/prove/dekker-nofence.cub --model tso --html "$out/prove.html" || true
$porf prove corpus/prove/dekker.cub --model tso

say "Pages for a browser: $out/message.html, $out/sample.html, $out/prove.html"

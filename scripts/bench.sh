#!/usr/bin/env bash
# Prints times for people to read; no test depends on them. Ratios compare with figures measured elsewhere on the
# same kind of machine: read them as orders of magnitude.
set -euo pipefail
cd "$(dirname "$0")/.."
cargo build --release -q -p porf-cli -p porf-corpus

echo "== litmus corpora: our time against herd7's (skipped without the corpora beside the repository)"
"${CARGO_TARGET_DIR:-target}"/release/herd-check || echo "(some answers differ: see above)"
for script in scripts/bench/*.sh; do
    [ -e "$script" ] && bash "$script"
done
exit 0

#!/usr/bin/env bash
# Packages every crate from a clean clone and builds each package alone, as `cargo publish` would: what a
# package does not contain is not there.
set -euo pipefail

root=$(git -C "$(dirname "$0")" rev-parse --show-toplevel)
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
git clone --quiet "$root" "$place/porf"
cd "$place/porf"
"${CARGO:-cargo}" package --workspace --locked

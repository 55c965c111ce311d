#!/usr/bin/env bash
# The same search on a Ray cluster of several nodes on this machine. Ray goes into a virtual environment
# of its own, target/cluster. PORF_KILLS=50: so many runs with random kills; PORF_FULL=1: larger programs.
set -euo pipefail
cd "$(dirname "$0")/.."
"${CARGO:-cargo}" build --quiet --profile test -p porf-cli
venv=target/cluster/venv
[ -x "$venv/bin/python" ] || python3 -m venv "$venv"
"$venv/bin/python" -m pip install --quiet --disable-pip-version-check --editable 'python[test]'
# A busy machine starts nodes slowly.
export PORF="$PWD/target/debug/porf" RAY_USAGE_STATS_ENABLED=0 RAY_raylet_start_wait_time_s=180
export RAY_CLIENT_SERVER_CHECK_CHANNEL_TIMEOUT_S=180
"$venv/bin/ruff" format --check python
"$venv/bin/ruff" check python
"$venv/bin/mypy" --config-file python/pyproject.toml python/porf_cluster
exec "$venv/bin/python" -m pytest -q --durations=5 python "$@"

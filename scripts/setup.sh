#!/usr/bin/env bash
# Installs what the tests and the demo need, if the machine lacks it: a C and C++ compiler, clang and libc++, z3 and
# cvc5 to check the prover's certificates, the build tools that the compiler wrappers are tested with, and a Chromium
# for the tests of the pages, where there is one to install. Prints nothing if there is nothing to do.
set -euo pipefail

sudo=""
[ "$(id -u)" -eq 0 ] || sudo="sudo"
# A fresh machine knows no packages yet: what is looked for below would seem not to exist.
if command -v apt-get >/dev/null 2>&1 && ! apt-cache show z3 >/dev/null 2>&1; then
    $sudo apt-get update -qq
fi

missing=()
need() { command -v "$1" >/dev/null 2>&1 || missing+=("$2"); }
need clang clang
need gcc gcc
need g++ g++
need z3 z3
need cvc5 cvc5
need make make
need cmake cmake
need autoconf autoconf
# The other C++ library, of the same version as clang: programs are checked with both.
if ! echo '#include <cstddef>' | clang++ -stdlib=libc++ -x c++ -fsyntax-only - >/dev/null 2>&1; then
    missing+=(libc++-dev libc++abi-dev)
fi
# For `make test-cluster`: Python with virtual environments.
python3 -c 'import ensurepip, venv' >/dev/null 2>&1 || missing+=(python3 python3-venv)
# The newest clang beside the distribution's own, if there is one to install.
if ! command -v clang-22 >/dev/null 2>&1 && apt-cache show clang-22 >/dev/null 2>&1; then
    missing+=(clang-22)
fi
# A browser for the tests of the pages; they are skipped without one.
if ! command -v chromium >/dev/null 2>&1 && ! command -v chromium-browser >/dev/null 2>&1 &&
    ! command -v google-chrome >/dev/null 2>&1 && [ -z "${PORF_CHROMIUM:-}" ] &&
    apt-cache show chromium >/dev/null 2>&1; then
    missing+=(chromium fonts-dejavu-core)
fi

[ ${#missing[@]} -eq 0 ] && exit 0
echo "installing: ${missing[*]}" >&2
if command -v apt-get >/dev/null 2>&1; then
    $sudo apt-get update -qq
    DEBIAN_FRONTEND=noninteractive $sudo apt-get install -y -qq "${missing[@]}" >/dev/null
else
    echo "please install: ${missing[*]}" >&2
    exit 1
fi

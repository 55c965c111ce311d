# Porf: build, test, show. Every target installs what it needs (scripts/setup.sh) and works on a
# fresh machine that has only the Rust toolchain.
CARGO ?= cargo

.PHONY: all setup build demo test test-full bench fmt clippy

all: build

setup:
	@scripts/setup.sh

build: setup
	$(CARGO) build --release

test: setup
	$(CARGO) fmt --all --check
	$(CARGO) clippy --workspace --all-targets -- -D warnings
	$(CARGO) test --workspace

test-full: test
	PORF_FULL=1 $(CARGO) test --workspace --release

bench: build

demo: build

fmt:
	$(CARGO) fmt --all

clippy:
	$(CARGO) clippy --workspace --all-targets -- -D warnings

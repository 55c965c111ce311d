# Porf: build, test, show. Every target installs what it needs (scripts/setup.sh) and works on a
# fresh machine that has only the Rust toolchain.
CARGO ?= cargo

.PHONY: all setup build install wheel package demo test test-cluster test-full bench fmt clippy

all: build

setup:
	@scripts/setup.sh

build: setup
	$(CARGO) build --release -p porf-cli

# Nothing but Porf, its manual pages and its completions.
PREFIX ?= $(HOME)/.local
install:
	$(CARGO) install --path crates/cli --locked
	porf man $(PREFIX)/share/man/man1
	mkdir -p $(PREFIX)/share/bash-completion/completions $(PREFIX)/share/zsh/site-functions
	porf completions bash > $(PREFIX)/share/bash-completion/completions/porf
	porf completions zsh > $(PREFIX)/share/zsh/site-functions/_porf

# Every crate as a package that builds alone, from a clean clone.
package:
	@scripts/package.sh

# A Python wheel that carries the binary, in target/wheels.
wheel:
	pip wheel --no-deps --wheel-dir target/wheels .

demo: build
	@scripts/demo.sh

test: setup
	$(CARGO) fmt --all --check
	$(CARGO) clippy --workspace --all-targets -- -D warnings
	RUSTDOCFLAGS="-D warnings" $(CARGO) doc --workspace --no-deps
	$(CARGO) test --workspace

# The same search on a Ray cluster of several nodes on this machine; workers, nodes and drivers are killed.
test-cluster: setup
	CARGO="$(CARGO)" scripts/test-cluster.sh

# Everything, also what takes long: all public tests beside the repository, mutants of every axiom,
# more random programs, the packages.
test-full: test package
	PORF_FULL=1 $(CARGO) test --workspace --release

bench: build
	@scripts/bench.sh

fmt:
	$(CARGO) fmt --all

clippy:
	$(CARGO) clippy --workspace --all-targets -- -D warnings

# The chores of Shellglass. Each target works as the only command after a clone.

BIN    := $(CURDIR)/target/dist/shellglass
TESTED := $(CURDIR)/target/tested/shellglass
WEAK   := $(CURDIR)/target/weak/shellglass
PYTHON := $(CURDIR)/.tools/venv/bin/python
ZELLIJ := $(CURDIR)/.tools/zellij/bin/zellij
PREFIX ?= $(HOME)/.local
MINUTES ?= 10

# A program that has its C library in itself starts sooner and runs everywhere. Where
# there is none to be had, the system's does.
WITHIN := -C target-feature=+crt-static -C link-arg=-Wl,-z,pack-relative-relocs
STATIC := $(if $(filter /%,$(shell cc -print-file-name=libc.a)),$(WITHIN))
BUILD  := cargo rustc --locked --package shellglass --bin shellglass

.PHONY: help build run stop test lint tidy unit tested weak clients browser editor bench install fuzz reference dist soak audit

help: ## Say what there is.
	@sed -n 's/^\([a-z]*\):.*## /\1\t/p' Makefile | expand -t 12

build: ## Build the binary that people run.
	@scripts/deps build
	@scripts/page
	$(BUILD) --profile dist -- $(STATIC)

run: build ## Start the daemon in the background and run a first command.
	@scripts/first-run $(BIN)

stop: ## End the daemon; commands that run go on and are found again.
	@scripts/stop $(BIN)

# All of it uses one profile, so that build scripts, macros and dependencies are
# compiled once; the chores' own program would change features of the others.
test: lint tidy unit clients browser editor ## Check everything.

lint: ## Formatting and lints.
	@scripts/deps build
	@scripts/page check
	@scripts/editor check
	cargo fmt --all --check
	cargo clippy --release --workspace --all-targets --locked -- -D warnings

tidy: ## Shape of the repository, behaviours, contract.
	cargo test --quiet --release --locked --package xtask
	cargo run --quiet --release --locked --package xtask -- tidy

unit: tested weak ## Tests in Rust, over the built binary.
	@scripts/deps test
	SHELLGLASS_BIN=$(TESTED) SHELLGLASS_WEAK_BIN=$(WEAK) cargo test --release --workspace --exclude xtask --locked

tested: ## Build what people run, but without the optimisation over all crates, which takes minutes.
	@scripts/deps build
	@scripts/page
	$(BUILD) --release -- $(STATIC)
	@mkdir -p $(dir $(TESTED)) && cp --remove-destination target/release/shellglass $(TESTED)

weak: ## Build a binary for tests alone: walls can be left out, and features are the other way round.
	@scripts/deps build
	$(BUILD) --release --no-default-features --features weak-walls,otlp -- $(STATIC)
	@mkdir -p $(dir $(WEAK)) && cp --remove-destination target/release/shellglass $(WEAK)

clients: tested weak ## Tests with clients that are not ours, over the built binary.
	@scripts/deps test
	SHELLGLASS_BIN=$(TESTED) SHELLGLASS_WEAK_BIN=$(WEAK) $(PYTHON) tests/clients/run.py
	SHELLGLASS_BIN=$(TESTED) node --test tests/mcp/*.test.mjs

browser: tested ## Tests of the page in a browser, over the built binary.
	@scripts/deps test
	SHELLGLASS_BIN=$(TESTED) node --test tests/web/*.test.mjs

editor: tested ## Tests of the VS Code extension in a real editor, over the built binary.
	@scripts/deps test
	@scripts/editor
	SHELLGLASS_BIN=$(TESTED) node --test tests/editor/view.test.mjs tests/editor/way.test.mjs
	@scripts/code-server; case $$? in 0) ;; 3) echo "shellglass: skipped: the extension in a real editor" >&2; exit 0 ;; *) exit 1 ;; esac; \
	SHELLGLASS_BIN=$(TESTED) node --test tests/editor/editor.test.mjs

bench: build ## Latency, throughput and memory, with baselines beside them.
	@scripts/deps test
	SHELLGLASS_BIN=$(BIN) cargo bench --locked --package shellglass-tests --bench real
	cargo bench --profile dist --locked --package glass-vt --package glass-policy --package glass-redact

install: build ## Install the binary, its manual and its completions below PREFIX.
	@scripts/install $(BIN) $(PREFIX)

dist: build ## Make a Debian package and a tarball in target/packages.
	@scripts/dist $(BIN) target/packages

reference: build ## Write the reference of the configuration into its page.
	@scripts/reference $(BIN)

soak: build ## Use a daemon in every way for MINUTES while it is killed, and look for what is left; then try Zellij.
	@scripts/deps test
	SHELLGLASS_BIN=$(BIN) $(PYTHON) tests/clients/soak.py --minutes $(MINUTES)
	@scripts/zellij
	SHELLGLASS_BIN=$(BIN) SHELLGLASS_ZELLIJ=$(ZELLIJ) cargo test --release --workspace --exclude xtask --locked --test real -- --ignored zellij

audit: ## Licences, sources and vulnerabilities of dependencies, and those that nobody uses.
	@scripts/audit

fuzz: ## Run every fuzz target for half a minute (needs a nightly compiler).
	@scripts/fuzz

# `make` prints this help; every target is a thin call of cargo or of the program itself.
.DEFAULT_GOAL := help
.PHONY: help conformance selftest images doctor test check lint docs deny bench bench-criterion bench-peers gate clean

# ENGINES="postgres:17 mysql" names the engines, which must then run; empty means all that can be had.
ENGINES ?= $(ENGINE)
CONTRACTS ?= $(CONTRACT)
SEED ?=
REPEAT ?= 1
PROFILE ?= quick
SCENARIOS ?= $(SCENARIO)
OUT ?= reports

empty :=
space := $(empty) $(empty)
engines = $(foreach engine,$(ENGINES),--engine $(engine))
contracts = $(foreach contract,$(CONTRACTS),--contract '$(contract)')
scenarios = $(foreach scenario,$(SCENARIOS),--scenario '$(scenario)')
seed = $(if $(SEED),--seed $(SEED))
leaseproof = cargo run --quiet --package leaseproof-conformance --bin leaseproof --

help: ## Show this help
	@echo 'Leaseproof: may this database carry your leases, outboxes and job queues?'
	@echo
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-16s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)
	@echo
	@echo '  ENGINES="postgres:17 mysql"  which engines, and they must run    CONTRACTS="claim/*"  which contracts'
	@echo '  SEED=N  the seed    REPEAT=N  run each case N times              OUT=DIR  where reports go'
	@echo '  SCENARIOS="wait-*"  which scenarios are measured'

conformance: ## Run the contracts on real engines and write the reports
	$(leaseproof) run $(engines) $(contracts) $(seed) --repeat $(REPEAT) --out $(OUT)

selftest: ## Show that every contract can fail: run it on stores that break it
	$(leaseproof) selftest $(engines) $(contracts) $(seed)

images: ## Build local images of the servers, for machines without a registry
	$(leaseproof) images $(engines)

doctor: ## Explain where each engine's server would come from
	$(leaseproof) doctor $(engines)

test: ## Run everything the project tests about itself, on every engine
	cargo test --workspace --no-fail-fast

lint: ## Formatting and lints
	cargo fmt --all --check
	cargo clippy --workspace --all-targets -- -D warnings

docs: ## Build the documentation, warnings are errors
	RUSTDOCFLAGS='-D warnings' cargo doc --workspace --no-deps --quiet

deny: ## Licences and advisories of what is linked in; needs `cargo install cargo-deny`
	cargo deny check

check: lint docs test ## What CI runs

bench: ## Measure what leases cost, with each engine's own account of waits (PROFILE=full takes hours)
	cargo run --quiet --profile measure --package leaseproof-conformance --bin leaseproof -- \
	  bench $(engines) $(scenarios) --profile $(PROFILE) $(seed) --out $(OUT)

bench-criterion: ## Measure lock waits and batch contention with criterion
	cargo bench --package leaseproof-benches

bench-peers: ## Measure the load runner beside pgbench, sysbench and SQLite's C API, with the same statements
	cargo run --quiet --profile measure --package leaseproof-conformance --bin leaseproof -- \
	  bench --engine postgres --engine mysql --engine mariadb --engine sqlite --scenario 'peer-*' --out $(OUT)

gate: ## Decide on an upgrade, BASE=postgres:17 HEAD=postgres:18, or on ENGINE against its baseline
	@if [ -z '$(strip $(BASE)$(HEAD)$(ENGINES))' ]; then \
	  echo 'make gate BASE=postgres:17 HEAD=postgres:18, or make gate ENGINE=postgres:18' >&2; exit 2; fi
	@cargo run --quiet --profile measure --package leaseproof-conformance --bin leaseproof -- \
	  $(if $(strip $(BASE)$(HEAD)),upgrade '$(BASE)' '$(HEAD)',gate '$(ENGINES)') $(seed) --out $(OUT)

clean: ## Remove what was built and written
	cargo clean
	rm -rf reports/runs reports/latest

# Everything a user or developer types; `make` alone explains.

PYTHON ?= $(firstword $(foreach minor,11 12 13,$(shell command -v python3.$(minor))) python3.11)
KILLS  ?= 20
CORES  ?= $(shell nproc 2>/dev/null || echo 2)
BIN    := .venv/bin
DEMO   := .venv/.from-lock
TESTS  := .venv/.from-dev-lock

PIN    := uv pip compile pyproject.toml --python-version 3.11 --universal --generate-hashes \
          --no-emit-index-url --custom-compile-command "make lock" --quiet

CAMPAIGN  := --directory demo --configfile config/demo/config.yaml
KERNELS    = $(shell find kernels -name '*.cl' -o -name '*.clh')

.DEFAULT_GOAL := help
.PHONY: help demo demo-sequences test browser test-browser test-faults test-slurm fuzz mutants lint format bench docs clean schema lock

help: ## Show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-14s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

demo: $(DEMO) ## Screen 233 approved drugs against two enzymes; results in demo/
	@$(BIN)/python -m ligen_py run config/demo/config.yaml --directory demo --cores $(CORES)
	@echo "Read next: demo/results/report.html, and the molecules in demo/results/export/"

demo-sequences: $(DEMO) ## Search made proteins and a made genome; results in demo/sequences/
	@$(BIN)/python config/demo-sequences/make_data.py demo/sequences
	@$(BIN)/python -m ligen_py run config/demo-sequences/config.yaml --directory demo/sequences --cores $(CORES)
	@echo "Read next: demo/sequences/results/report.html, and the tables in demo/sequences/results/*/*/found/"

test: lint ## Run every check and every test
	$(BIN)/python -m pytest tests -q -n $(CORES) --dist loadscope --no-loadscope-reorder

test-faults: $(TESTS) ## Kill, cut, fill and damage campaigns at more moments than `make test` does
	LIGEN_TEST_MOMENTS=$(KILLS) $(BIN)/python -m pytest tests/workflow/test_faults.py -q --timeout 172800

fuzz: $(TESTS) ## Give every reader 500 times 22 damaged files; `make test` gives it 20 times 22
	LIGEN_TEST_FUZZ=500 $(BIN)/python -m pytest tests/fuzz -q --timeout 14400 --durations=0 --durations-min=5

mutants: $(TESTS) ## Change one thing in the program 200 times, and see whether a test fails
	$(BIN)/python -m tests.mutants $(MUTANTS)

test-slurm: $(TESTS) ## Run campaigns on a Slurm of this machine's own (Debian, as root)
	LIGEN_TEST_SLURM=1 $(BIN)/python -m pytest tests/workflow/test_slurm.py -q --timeout 14400

browser: ## Install Chromium, in which tests look at the report (Debian, as root)
	command -v chromium > /dev/null || { test "$$(id -u)" = 0 && apt-get update -qq && \
	    apt-get install -qq -y chromium > /dev/null; } || true

test-browser: $(TESTS) browser ## Look at the report in a headless Chromium
	$(BIN)/python -m pytest tests/unit/summary/test_page.py -q -rs

lint: $(TESTS) ## Check formats, types and rules, without running anything
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/snakefmt --check Snakefile workflow
	$(BIN)/snakemake $(CAMPAIGN) --lint
	$(BIN)/clang-format --dry-run -Werror --ferror-limit=3 $(KERNELS)

format: $(TESTS) ## Format all sources
	$(BIN)/ruff check --fix-only --quiet .
	$(BIN)/ruff format --quiet .
	$(BIN)/snakefmt Snakefile workflow
	$(BIN)/clang-format -i $(KERNELS)

bench: ## Redock the complexes of a folder: make bench FOLDER=...
	@test -d "$(FOLDER)" || { echo "give a folder of complexes: make bench FOLDER=..."; exit 2; }
	@$(MAKE) --no-print-directory $(TESTS)
	$(BIN)/python benchmarks/redock.py "$(FOLDER)"

docs: $(TESTS) ## Build the documents as a site that opens from files: site/index.html
	$(BIN)/python -m mkdocs build --strict

clean: ## Remove the demo's results and all caches, not .venv
	rm -rf demo site .snakemake .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find . -name __pycache__ -not -path './.venv/*' -prune -exec rm -rf {} +

schema: $(DEMO) ## Write the config's JSON schema anew, after a change of ligen_py/settings/
	$(BIN)/python -m ligen_py.settings.campaign > workflow/config.schema.json

lock: ## Pin all requirements anew, after a change of pyproject.toml (needs uv)
	$(PIN) --extra cpu --extra workflow --extra demo --output-file requirements.lock
	$(PIN) --all-extras --constraint requirements.lock --output-file requirements-dev.lock

# Users and the demo need the first; tests and benchmarks the second, which holds the first.
# Debian without python3-venv leaves a .venv without pip; a second `venv` adds it.
$(DEMO): requirements.lock
$(TESTS): requirements-dev.lock
$(DEMO) $(TESTS):
	@command -v $(PYTHON) > /dev/null || { echo "$(PYTHON) is missing; install Python 3.11, 3.12 or 3.13, or name yours: make PYTHON=..."; exit 2; }
	$(BIN)/python -m pip --version > /dev/null 2>&1 || $(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --disable-pip-version-check --quiet --require-hashes -r $<
	touch $@

# `make demo` and `make test` build .venv on the first run; `make help` lists the rest.
# A constraints.txt makes every install the one that the tests have run with.

VENV := .venv
PYTHON ?= $(shell for p in python3.11 python3.12 python3.13 python3 python; do \
	$$p -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && { echo $$p; break; }; done)
RUN := $(VENV)/bin/python -m
INSTALL := $(RUN) pip install --disable-pip-version-check -c constraints.txt
# Extra arguments for pytest: make test ARGS="-k loaders"
ARGS ?=

.DEFAULT_GOAL := help
.PHONY: help demo test lint types bench clean

help: ## this list
	@sed -n 's/^\([a-z]*\):.*## /\1\t/p' $(MAKEFILE_LIST) | expand -t 8

demo: $(VENV)/.demo ## ingest the demo conversation and answer questions about it, without a network
	$(VENV)/bin/calm demo

test: $(VENV)/.dev ## all tests but those that need a GPU; absent data or servers skip with a reason
	$(RUN) pytest -n auto -m "not gpu" $(ARGS)

lint: $(VENV)/.dev ## ruff: rules and format
	$(RUN) ruff check .
	$(RUN) ruff format --check .

types: $(VENV)/.dev ## mypy --strict
	$(RUN) mypy -p calm

bench: $(VENV)/.dev ## what an ingest of the demo conversation costs here; writes results/ingest.md
	$(VENV)/bin/python scripts/benchmark_ingest.py calm/data/demo.json --format locomo

clean: ## remove .venv, builds and caches (never a store, results or checkpoints)
	rm -rf $(VENV) build dist *.egg-info .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

# Each stamp is written only after its step succeeded, so an interrupted install is taken up again.
$(VENV)/.made:
	@test -n "$(PYTHON)" || { echo "calm needs Python 3.11 or newer; name one: make PYTHON=/path/to/python3.11" >&2; exit 1; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "$(PYTHON) is not Python 3.11 or newer" >&2; exit 1; }
	$(PYTHON) -m venv $(VENV)
	touch $@

$(VENV)/.demo: $(VENV)/.made pyproject.toml constraints.txt
	$(INSTALL) -e ".[offline]"
	touch $@

$(VENV)/.dev: $(VENV)/.made pyproject.toml constraints.txt
	$(INSTALL) -e ".[dev]"
	touch $@ $(VENV)/.demo

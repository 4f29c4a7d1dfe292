# Everything runs from a bare clone with Python 3.11 or newer, pip and make.
# `make` alone lists the targets.

PYTHON ?= python3
WORKERS ?= 2
UV_VERSION := 0.13.7

VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
PIP := $(BIN)/python -m pip -qq --disable-pip-version-check

export PYRIGHT_PYTHON_IGNORE_WARNINGS := 1

# $(call step,name,command): run a command, say how long it took, fail if it fails.
step = @start=$$(date +%s); $(2) || { echo "-- $(1): FAILED"; exit 1; }; \
	echo "-- $(1): passed in $$(($$(date +%s) - start)) s"

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help setup demo test check static slow campaign docs fix lock clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z]+:.*## /{printf "make %-8s %s\n", $$1, $$2}' Makefile

setup: $(READY) ## create .venv from the lock; does nothing when it is up to date

demo: $(READY) ## run the demonstration into demo/
	$(BIN)/mppo demo --out demo

test: $(READY) ## fast tests and doctests (WORKERS=2)
	$(call step,tests,$(BIN)/pytest -n auto --maxprocesses $(WORKERS))

check: static test ## what CI runs: format, lint, types, import layers, tests

static: $(READY)
	$(call step,format,$(BIN)/ruff format --check --quiet .)
	$(call step,lint,$(BIN)/ruff check --quiet .)
	$(call step,no pickled arrays,{ ! grep -rnE 'allow_pickle *= *True' --include='*.py' src; })
	$(call step,types,$(BIN)/pyright)
	$(call step,import layers,$(BIN)/lint-imports --no-logo)

slow: $(READY) .venv-lock/bin/uv ## a real Ray cluster, and the wheel in clean environments (minutes)
	$(call step,slow tests,$(BIN)/pytest -m "" tests/slow)

campaign: $(READY) ## the long tests of reliability: an hour; goes on where it was left
	$(call step,campaign,$(BIN)/python -m campaign all)

docs: $(READY) ## the documentation as a site that needs no network: site/index.html
	$(call step,docs,NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict)

fix: $(READY) ## format, and repair what the linter can
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

lock: .venv-lock/bin/uv ## resolve requirements.lock again (UPGRADE=--upgrade for newer versions)
	.venv-lock/bin/uv pip compile pyproject.toml --universal --extra dev \
		--generate-hashes --no-emit-index-url --no-emit-find-links --no-header --no-annotate \
		--python-version 3.11 --quiet $(UPGRADE) --output-file requirements.lock
	@if grep -nE '^--|://' requirements.lock; then \
		echo "requirements.lock must not name an index or an address"; exit 1; fi

clean: ## remove the environments, caches and built files
	rm -rf $(VENV) .venv-lock .pytest_cache .ruff_cache .hypothesis .import_linter_cache build dist demo site
	find src tests -type d -name __pycache__ -prune -exec rm -rf {} +

# The stamp is touched last, so an interrupted install is done again.
# Wheels only: with a source archive to fall back on, pip would pass over a wheel whose hash is wrong.
# The lock names every package, so pip resolves nothing (--no-deps): asked for `name[extra]` by a dependency,
# an older pip would prefer a release newer than the pinned one and then refuse it. `pip check` shows a gap.
$(READY): requirements.lock pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || { \
		echo "mppo needs Python 3.11 or newer, and '$(PYTHON)' is not; try: make PYTHON=python3.12"; \
		exit 1; }
	@$(BIN)/python -m pip --version >/dev/null 2>&1 || $(PYTHON) -m venv --clear $(VENV)
	@echo "Installing the locked packages into $(VENV); the first time takes a minute or two."
	@$(PIP) install --no-deps --require-hashes --only-binary :all: -r requirements.lock
	@$(PIP) install --no-deps --no-build-isolation -e .
	@gaps=$$($(BIN)/python -m pip --disable-pip-version-check check) || { echo "$$gaps"; exit 1; }
	@touch $@

.venv-lock/bin/uv:
	@$(PYTHON) -m venv --clear .venv-lock
	@.venv-lock/bin/python -m pip -qq --disable-pip-version-check install uv==$(UV_VERSION)

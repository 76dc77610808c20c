# Everything a newcomer does with this repository. `make` alone prints the list below.

PYTHON ?= python3
PORT ?= 8000
ARGS ?=

VENV := .venv
PIP := $(VENV)/bin/python -m pip --disable-pip-version-check --quiet
CHECKED := kapsoweb cyclotron bank grading serving tests manage.py

# A stamp is newer than the file that it was made from, so a second run has nothing to do.
REQUIREMENTS_STAMP := $(VENV)/.requirements-installed
DEV_STAMP := $(VENV)/.requirements-dev-installed
INSTALLED_STAMP := $(VENV)/.kapsoweb-installed

export PORT

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help setup setup-dev lab test check format bench study lock clean

help: ## Print this list
	@echo "make TARGET [PORT=8000] [PYTHON=python3.12] [ARGS=...]"
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  %-10s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

setup: $(INSTALLED_STAMP) ## Install what the lab needs into .venv, from hash-pinned requirements

setup-dev: $(DEV_STAMP) $(INSTALLED_STAMP) ## The same, and what tests, checks and benchmarks need

lab: setup ## Run the lab on http://127.0.0.1:PORT with a demonstration in it (Ctrl-C ends it)
	@exec $(VENV)/bin/kapsoweb lab

test: setup-dev ## Run every test on both databases (ARGS go to pytest: make test ARGS="-k bound")
	@exec $(VENV)/bin/python -m tests.run $(ARGS)

check: setup-dev ## Lint, formatting, types, import rules, missing migrations
	$(VENV)/bin/ruff check $(CHECKED)
	$(VENV)/bin/ruff format --check $(CHECKED)
	$(VENV)/bin/mypy
	$(VENV)/bin/lint-imports
	DJANGO_SETTINGS_MODULE=kapsoweb.settings.test $(VENV)/bin/python manage.py makemigrations --check --dry-run

format: setup-dev ## Put the code into the form that `make check` asks for
	$(VENV)/bin/ruff check --fix $(CHECKED)
	$(VENV)/bin/ruff format $(CHECKED)

bench: setup-dev ## Measure what must stay fast; prints one JSON object
	@exec $(VENV)/bin/python -m tests.bench $(ARGS)

study: setup-dev ## Repeat a study of the lab's own error (ARGS=coverage; the others: docs/truth.md)
	@exec $(VENV)/bin/python -m tests.studies $(ARGS)

# setuptools is pinned too: the last step of `make setup` builds with it instead of fetching an unpinned one.
LOCK := $(VENV)/bin/uv pip compile pyproject.toml - --universal --python-version 3.11 --generate-hashes \
	--no-header --no-annotate --quiet $(ARGS)
lock: setup-dev ## Pin again after a change in pyproject.toml (ARGS=--upgrade takes newer releases)
	echo "setuptools>=80" | $(LOCK) -o requirements.txt
	echo "setuptools>=80" | $(LOCK) --extra dev -c requirements.txt -o requirements-dev.txt

clean: ## Remove .venv and every cache; the lab's own state under KAPSOWEB_HOME stays
	rm -rf $(VENV) build staticfiles test-results *.egg-info
	rm -rf .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

# Python's own virtual environments; PYTHON=... chooses another interpreter.
$(VENV)/bin/python:
	@command -v $(PYTHON) >/dev/null || { \
	  echo "'$(PYTHON)' was not found. Install Python 3.11 or newer, or name one: make $(MAKECMDGOALS) PYTHON=python3.12" >&2; exit 1; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
	  echo "kapsoweb needs Python 3.11 or newer; '$(PYTHON)' is $$($(PYTHON) --version 2>&1)." \
	    "Name a newer one: make $(MAKECMDGOALS) PYTHON=python3.12" >&2; exit 1; }
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || { \
	  echo "'$(PYTHON)' has no venv module. On Debian and Ubuntu: apt-get install python3-venv" >&2; exit 1; }
	@echo "Making $(VENV) with $$($(PYTHON) --version) ..." >&2
	@$(PYTHON) -m venv $(VENV)

# Order-only (after the bar): the interpreter's own date says nothing about what is installed.
$(REQUIREMENTS_STAMP): requirements.txt | $(VENV)/bin/python
	@echo "Installing what the lab needs ..." >&2
	@$(PIP) install --require-hashes -r requirements.txt
	@touch $@

$(DEV_STAMP): requirements-dev.txt | $(REQUIREMENTS_STAMP)
	@echo "Installing what tests and checks need ..." >&2
	@$(PIP) install --require-hashes -r requirements-dev.txt
	@touch $@

$(INSTALLED_STAMP): pyproject.toml $(REQUIREMENTS_STAMP) | $(VENV)/bin/python
	@$(PIP) install --no-deps --no-build-isolation --editable .
	@touch $@

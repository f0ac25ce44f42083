# `make demo` and `make test` need nothing but Python. Every other name is a session of noxfile.py, which keeps an environment
# for it in .venvs: nothing is installed globally, and nothing is installed twice until what it asks for has changed.
PYTHON ?= python3
# Where the caller's environment forbids it, every child process of a test would compile the package anew
export PYTHONDONTWRITEBYTECODE :=
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
CORE := $(VENV)/.core
# the options of pytest stand in noxfile.py's CORE, with the reasons
WORKERS := $(shell $(PYTHON) -c 'import os; print(2 * (os.cpu_count() or 1))')

.DEFAULT_GOAL := help
.PHONY: help help-all setup demo test lint format types unit clean always

help: ## these commands
	@grep -hE '^[a-z0-9-]+:.*## ' Makefile | sed -E 's/:.*## /\t/' | expand -t 12

demo: $(CORE) ## judge the rollouts that ship with the package
	@$(BIN)/astuner demo

setup: $(READY) ## the virtual environment in .venv

test: lint types unit ## what a change must pass: lint, types and unit

lint: $(READY) ## ruff: style and formatting
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

format: $(READY) ## ruff: correct what it can, and format
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

types: $(READY) ## mypy, strict
	$(BIN)/mypy

unit: $(READY) ## pytest on every core
	$(BIN)/pytest -n $(WORKERS) --dist loadfile

clean: ## remove environments and caches
	rm -rf $(VENV) .venvs out build dist *.egg-info .mypy_cache .ruff_cache .pytest_cache

help-all: $(READY) ## every other command, by group: heavier tests, tutorials, documents, benchmarks
	@$(BIN)/python noxfile.py

# the core alone: a first look should not wait for the tests' packages; --no-compile: nor for what is never imported
$(CORE): setup.cfg pyproject.toml
	@echo "installing astuner's core in .venv: one to three minutes, once"
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-compile -e .
	@touch $@

$(READY): setup.cfg pyproject.toml
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[test]'
	@touch $@ $(CORE)

# any other name: a session
%: $(READY) always
	@$(BIN)/nox --session $@
always:
# not to be made by a session
Makefile setup.cfg pyproject.toml: ;

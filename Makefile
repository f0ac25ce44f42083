# Every target does its own set-up in .venv (or .venvs/<name> for the heavier ones): nothing is installed globally, and nothing
# is installed twice until setup.cfg changes.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready

.DEFAULT_GOAL := help
.PHONY: help setup test lint types unit clean

help: ## what can be made
	@grep -hE '^[a-z0-9-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 16

$(READY): setup.cfg pyproject.toml
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[test]'
	@touch $@

setup: $(READY) ## the virtual environment in .venv

lint: $(READY) ## ruff: style and formatting
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(READY) ## mypy, strict
	$(BIN)/mypy

unit: $(READY) ## pytest on every core
	$(BIN)/pytest -n auto

test: lint types unit ## everything above: what a change must pass

clean: ## remove environments and caches
	rm -rf $(VENV) .venvs build dist *.egg-info .mypy_cache .ruff_cache .pytest_cache

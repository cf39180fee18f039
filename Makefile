# Everything runs in .venv, made from constraints.txt on first use.

PYTHON ?= python3
BIN := .venv/bin

.DEFAULT_GOAL := help
.PHONY: help setup demo heart test check docs lock

help:  ## list the targets
	@grep -hE '^[a-z]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z]+):.*## /  make \1\t/' | expand -t 16

setup: .venv/.made  ## make the virtual environment

.venv/.made: pyproject.toml constraints.txt
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable '.[dev]'
	@touch $@

demo: .venv/.made  ## the main job end to end, small and offline: build, check, freeze, evaluate, report
	scripts/demo

heart: .venv/.made  ## the same with all 11,000 memories of HEART
	MEMORIES=1000 scripts/demo

check: .venv/.made  ## lint, types, generated files
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/python -m schemas.docs.tables --check
	$(BIN)/python -m schemas.docs.commands --check
	$(BIN)/python -m audits.codes --check
	$(BIN)/python -m validators.codes --check
	$(BIN)/python -m builders.importers.codes --check
	$(BIN)/python -m releases card heart@2.0.0 --out DATASET_CARD.md --check

test: check  ## everything CI runs
	$(BIN)/python -m pytest -n 2 --dist worksteal

docs: .venv/.made  ## write the generated parts of docs/
	$(BIN)/python -m schemas.docs.tables
	$(BIN)/python -m schemas.docs.commands
	$(BIN)/python -m audits.codes
	$(BIN)/python -m validators.codes
	$(BIN)/python -m builders.importers.codes
	$(BIN)/python -m releases card heart@2.0.0 --out DATASET_CARD.md

lock:  ## renew constraints.txt from the newest versions that fit pyproject.toml
	rm -rf .venv && $(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --editable '.[dev,stores]'
	$(BIN)/python -m pip freeze --exclude-editable > constraints.txt
	touch .venv/.made

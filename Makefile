# What CI runs, for people. `make check` is all of it except the fresh environment.
PYTHON ?= .venv/bin/python

.PHONY: install check lint types test docs bench

install:            ## a fresh environment with everything for development
	python3 -m venv .venv
	.venv/bin/pip install -e ".[dev]"

check: lint types test

lint:
	$(PYTHON) -m ruff format --check .
	$(PYTHON) -m ruff check .
	$(dir $(PYTHON))check-jsonschema --builtin-schema vendor.compose-spec docker-compose.yml

types:
	$(PYTHON) -m mypy

test:
	$(PYTHON) -m pytest -n auto --dist loadfile

docs:               ## regenerate what is generated from the code
	$(PYTHON) docs/generate.py

bench:
	$(PYTHON) benchmarks/cpu_per_question.py
	$(PYTHON) benchmarks/help_time.py

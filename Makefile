# What CI runs, for people. `make check` is all of it except the fresh environment and the coverage.
PYTHON ?= .venv/bin/python
WORKERS ?= $(shell $(PYTHON) -c "import os; print(2 * (os.cpu_count() or 1))")

.PHONY: install check lint types test coverage full docs site bench

install:            ## a fresh environment with everything that the tests use
	python3 -m venv .venv
	.venv/bin/pip install -e ".[dev-full,docs]"

check: lint types test

lint:
	$(PYTHON) -m ruff format --check .
	$(PYTHON) -m ruff check .
	$(PYTHON) -m check_jsonschema --builtin-schema vendor.compose-spec docker-compose.yml

types:
	$(PYTHON) -m mypy

test:               ## with the slow tests, two at a time on each core: a test waits half of its time
	$(PYTHON) -m pytest -q -n $(WORKERS) --dist loadfile -m "not full"

coverage:           ## which lines the tests do not reach; tracing takes as long as the tests again, so CI does without
	$(PYTHON) -m pytest -q -n auto --dist loadfile -m "not slow and not full" --cov --cov-report=
	$(PYTHON) -m coverage combine -q 2>/dev/null || true  # what child processes left, where they left something
	$(PYTHON) -m coverage report --skip-covered

full:               ## up to an hour: kills, damaged inputs and the slow tests, with more of each than CI takes
	$(PYTHON) -m pytest -s -m full tests/kills tests/fuzzing tests/client/test_faults.py
	$(PYTHON) -m pytest -q -n auto --dist loadfile -m "not full"

docs:               ## regenerate what is generated from the code
	$(PYTHON) docs/generate.py

site:               ## the documentation as a site, in build/site; any warning fails
	$(PYTHON) docs/site.py

bench:              ## every benchmark, with what needs no input
	$(PYTHON) benchmarks/cpu_per_question.py
	$(PYTHON) benchmarks/faults.py
	$(PYTHON) benchmarks/help_time.py
	$(PYTHON) benchmarks/memory.py
	$(PYTHON) benchmarks/judge_overlap.py
	$(PYTHON) benchmarks/judge_estimate.py
	$(PYTHON) benchmarks/judge_prices.py
	$(PYTHON) benchmarks/passage_score.py
	$(PYTHON) benchmarks/performance.py --small
	$(PYTHON) benchmarks/saved_runs.py
	$(PYTHON) benchmarks/abstention.py
	$(PYTHON) benchmarks/matching.py --datasets golden
	$(PYTHON) benchmarks/intervals.py --samples 200

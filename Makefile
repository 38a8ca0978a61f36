# Everything starts from a bare Python: each target makes what it needs.
PYTHON ?= python3
PORT ?= 8000
BIN := .venv/bin
export KERNELINDEX_ENV ?= development

.PHONY: help demo demo-rerun test lint types format lock bench verify clean

help:
	@echo "make demo    set everything up and serve the site on 127.0.0.1:$(PORT), on real data"
	@echo "make demo-rerun  measure a claim on this machine's CPU, rerun it as a controlled rerun, verify the result"
	@echo "make test    set everything up and run lint, types, import contracts and all tests that need no service"
	@echo "make bench   measure what docs/benchmarks.md states"
	@echo "make verify  recompute every digest in the database"

demo:
	@$(PYTHON) kernelindex/bootstrap.py web
	@$(BIN)/python manage.py demo --port $(PORT)

demo-rerun:
	@$(PYTHON) kernelindex/bootstrap.py web
	@$(PYTHON) kernelindex/bootstrap.py runner
	@$(BIN)/python manage.py demo_rerun --runner-python .venv-runner/bin/python

test: lint types
	$(BIN)/pytest -q -n auto -m "not browser and not postgres and not broker"

lint: .venv/dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/djlint --check --lint templates
	$(BIN)/lint-imports

types: .venv/dev
	$(BIN)/mypy .

format: .venv/dev
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .
	$(BIN)/djlint --reformat templates

bench: .venv/dev
	$(BIN)/python -m tests.bench

verify:
	@$(PYTHON) kernelindex/bootstrap.py web
	@$(BIN)/python manage.py verify_catalog

# New versions of the locked dependencies. Needs a network.
lock: .venv/dev
	$(BIN)/pip install --quiet uv
	$(BIN)/uv pip compile -q --universal --python-version 3.11 --generate-hashes --no-header --upgrade --extra web pyproject.toml -o requirements/web.txt
	$(BIN)/uv pip compile -q --universal --python-version 3.11 --generate-hashes --no-header --upgrade --extra web --extra dev pyproject.toml -o requirements/dev.txt

clean:
	rm -rf .venv .venv-runner var

.PHONY: .venv/dev
.venv/dev:
	@$(PYTHON) kernelindex/bootstrap.py dev

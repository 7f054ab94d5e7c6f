PYTHON ?= python3
BIN := .venv/bin

.PHONY: run test slow lint bench clean

run: .venv/cli
	$(BIN)/gapkernel compare --out comparison.html

test: .venv/test
	$(BIN)/python -m pytest -q -n auto

slow: .venv/test
	$(BIN)/python -m pytest -q -m slow

lint: .venv/lint
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

bench: .venv/bench
	$(BIN)/python benchmarks/run.py

.venv/bin/python:
	$(PYTHON) -m venv .venv

# one stamp for each extra, so that a target installs what it needs and nothing else
.venv/%: pyproject.toml | .venv/bin/python
	$(BIN)/python -m pip install --quiet --editable ".[$*]"
	touch $@

clean:
	rm -rf .venv

PYTHON ?= python3
BIN := .venv/bin

.PHONY: run test slow lint bench clean

run: .venv/ready
	$(BIN)/gapkernel compare --out comparison.html

test: .venv/ready
	$(BIN)/python -m pytest -q -n auto

slow: .venv/ready
	$(BIN)/python -m pytest -q -m slow

lint: .venv/ready
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

bench: .venv/ready
	$(BIN)/python benchmarks/run.py

.venv/ready: pyproject.toml
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --editable ".[test,lint,bench]"
	touch $@

clean:
	rm -rf .venv

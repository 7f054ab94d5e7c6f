PYTHON ?= python3
BIN := .venv/bin

.PHONY: run test slow lint docs bench clean

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

# EXAMPLES=plot_law_of_a_row runs only the examples whose path matches
docs: .venv/docs
	$(BIN)/python -m sphinx -c docs -W --keep-going -q -b html . site
	$(BIN)/python docs/check_links.py site

bench: .venv/bench
	$(BIN)/python benchmarks/run.py

.venv/bin/python:
	$(PYTHON) -m venv .venv

# one stamp for each extra, so that a target installs what it needs and nothing else
.venv/%: pyproject.toml | .venv/bin/python
	$(BIN)/python -m pip install --quiet --editable ".[$*]"
	touch $@

clean:
	rm -rf .venv site docs/gallery docs/reference/generated docs/reference/backreferences

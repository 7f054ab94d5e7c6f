PYTHON ?= python3
BIN := .venv/bin

.PHONY: run test slow coverage oldest lint docs package bench mutants clean

run: .venv/cli
	$(BIN)/gapkernel compare --out comparison.html

test: .venv/test
	$(BIN)/python -m pytest -q -n auto

slow: .venv/test
	$(BIN)/python -m pytest -q -m slow

# at least 97 % of the lines of plain Python; pyproject.toml says how compiled functions are counted
coverage: .venv/coverage
	$(BIN)/python -m coverage erase
	$(BIN)/python -m coverage run -m pytest -q -n 0
	$(BIN)/python -m coverage combine --quiet
	$(BIN)/python -m coverage report

# the lower bounds in pyproject.toml, proved in an environment of their own; what they warn of among themselves is no error
oldest:
	$(PYTHON) -m venv .venv-oldest
	.venv-oldest/bin/python -m pip install --quiet uv
	.venv-oldest/bin/uv pip install --quiet --python .venv-oldest/bin/python --resolution lowest-direct --editable ".[test]"
	.venv-oldest/bin/python -m pytest -q -n auto -W default::DeprecationWarning

lint: .venv/lint
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/mypy --strict --follow-imports=silent tests/typed_use.py
	$(BIN)/lint-imports
	$(BIN)/numpydoc lint $$(git ls-files 'src/gapkernel/*.py')

# EXAMPLES=plot_law_of_a_row runs only the examples whose path matches
docs: .venv/docs
	$(BIN)/python -m sphinx -c docs -W --keep-going -q -b html . site
	$(BIN)/python docs/check_links.py site

# the archives for the index, the same to the bit when built twice, and the wheel tried in an empty environment
package: export SOURCE_DATE_EPOCH := $(shell git log -1 --format=%ct)
package: .venv/package
	rm -rf dist dist-again .venv-wheel
	$(BIN)/python -m build --outdir dist
	$(BIN)/python -m build --outdir dist-again
	diff -r dist dist-again
	rm -rf dist-again
	$(BIN)/python -m twine check --strict dist/*
	$(PYTHON) -m venv .venv-wheel
	.venv-wheel/bin/python -m pip install --quiet dist/*.whl
	cd dist && ../.venv-wheel/bin/python -c "import gapkernel as gk; print(gk.SVC().fit([[0.0, None], [1.0, 2.0]], [0, 1]).predict([[None, 2.0]]))"

bench: .venv/bench
	$(BIN)/python benchmarks/run.py

# small mistakes in the source, one at a time: does a test notice? What is in tests/mutants.csv is not tried again
mutants: .venv/test
	$(BIN)/python tests/mutants.py

.venv/bin/python:
	$(PYTHON) -m venv .venv

# one stamp for each extra, so that a target installs what it needs and nothing else
.venv/%: pyproject.toml | .venv/bin/python
	$(BIN)/python -m pip install --quiet --editable ".[$*]"
	touch $@

clean:
	rm -rf .venv .venv-oldest .venv-wheel site dist docs/gallery docs/reference/generated docs/reference/backreferences

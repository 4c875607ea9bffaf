# Everything runs in one virtual environment, which the first target that needs it makes and all others reuse.
# On a machine that has only Python and make: `make demo` or `make test`. `make help` lists the targets.

PYTHON ?= python3
VENV ?= .venv
JOBS ?= 2
BASE ?= origin/main

ifeq ($(OS),Windows_NT)
BIN := $(VENV)/Scripts
else
BIN := $(VENV)/bin
endif
PY := $(BIN)/python
PYTEST := $(PY) -m pytest -q
# One thread per worker: the workers already use the cores.
export OMP_NUM_THREADS ?= 1
export OPENBLAS_NUM_THREADS ?= 1

DEV := $(VENV)/.installed-dev
PEER := $(VENV)/.installed-peer
EXAMPLES := $(VENV)/.installed-examples

.DEFAULT_GOAL := help
.PHONY: help install demo test codegen check lint format parity bench docs wheel diff clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z]+:.*## / {printf "  make %-9s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

$(PY):
	$(PYTHON) -c 'import sys; sys.version_info >= (3, 10) or sys.exit("mindtorch needs Python 3.10 or newer")'
	$(PYTHON) -m venv $(VENV)

$(DEV): pyproject.toml setup.py | $(PY)
	$(PY) -m pip install --disable-pip-version-check -q -e ".[dev]"
	@touch $@

$(PEER): $(DEV)
	$(PY) -m pip install --disable-pip-version-check -q -e ".[dev,peer]"
	@touch $@

$(EXAMPLES): $(DEV)
	$(PY) -m pip install --disable-pip-version-check -q -e ".[dev,examples]"
	@touch $@

install: $(DEV) ## make .venv and install mindtorch in it, with the development tools

demo: $(EXAMPLES) ## set everything up, regenerate, and train a model of handwritten digits
	$(PY) -m codegen
	$(PY) examples/digits.py

test: $(DEV) ## run the tests (all but the comparison with torch and the wheel)
	$(PYTEST) -n $(JOBS) -m "not wheel" --ignore=tests/parity

codegen: $(DEV) ## write generated/ from ops.yaml and derivatives.yaml
	$(PY) -m codegen

check: lint ## generated files are current, ruff, mypy, and modules import only from lower layers
	$(PY) -m codegen check
	$(PYTEST) tests/test_layers.py

lint: $(DEV) ## ruff and mypy
	$(BIN)/ruff check .
	$(BIN)/mypy

format: $(DEV) ## let ruff fix what it can and black format the hand-written code
	$(BIN)/ruff check --fix .
	$(BIN)/black -q codegen mindtorch tests benchmarks examples setup.py

parity: $(PEER) ## compare with torch (installs it)
	$(PYTEST) -n $(JOBS) tests/parity

bench: $(PEER) ## time mindtorch and torch in turn; writes benchmarks/results.md
	$(PY) -m benchmarks

docs: $(DEV) ## write the documentation, a page per family of ops included, as HTML to site/
	$(PY) -m codegen
	$(PY) docs/build.py

wheel: $(DEV) ## build dist/ (the wheel through the sdist) and test the wheel in a fresh environment
	rm -rf dist
	$(PY) -m build
	$(PYTEST) -m wheel tests/packaging

diff: ## which schemas and formulas changed since BASE (default origin/main)
	git --no-pager diff --unified=0 $(BASE) -- generated/schemas.py derivatives.yaml

clean: ## remove the environment and everything built
	rm -rf $(VENV) build dist site *.egg-info .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

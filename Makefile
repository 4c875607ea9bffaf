# Everything runs in one virtual environment, which the first target that needs it makes and all others reuse.
# On a machine that has only Python and make: `make demo` or `make test`. `make help` lists the targets.

PYTHON ?= python3
VENV ?= .venv
JOBS ?= 2
# Some tests instead of all: `make parity FILES="tests/parity/ops/test_ops.py -k exp2"`.
FILES ?=
# A number shuffles the tests: `make test ORDER=7`, and again with the same number.
ORDER ?=
# `old` has NumPy, its BLAS and torch compute as on a processor without AVX-512, torch even without AVX2: `make parity
# PROCESSOR=old`. Sums come in another order then, and products are not added at once.
PROCESSOR ?=

ifeq ($(OS),Windows_NT)
BIN := $(VENV)/Scripts
else
BIN := $(VENV)/bin
endif
PY := $(BIN)/python
PYTEST := $(PY) -m pytest -q $(ORDER:%=--order=%)
# One thread per worker: the workers already use the cores.
export OMP_NUM_THREADS ?= 1
export OPENBLAS_NUM_THREADS ?= 1
# Tests start hundreds of processes: what one of them has compiled the others read, also where the environment forbids to
# write it (as those of containers do), which makes each import take three times as long.
export PYTHONDONTWRITEBYTECODE :=

ifeq ($(PROCESSOR),old)
export OPENBLAS_CORETYPE := Haswell
export ATEN_CPU_CAPABILITY := default
export NPY_DISABLE_CPU_FEATURES := X86_V4 AVX512_ICL AVX512_SPR
else ifneq ($(PROCESSOR),)
$(error PROCESSOR is "old", or nothing for the one that there is)
endif

HAND_WRITTEN := .github codegen mindtorch mindtorch_codegen tests benchmarks examples docs setup.py

DEV := $(VENV)/.installed-dev
PEER := $(VENV)/.installed-peer
EXAMPLES := $(VENV)/.installed-examples
MPI := $(VENV)/.installed-mpi
JIT := $(VENV)/.installed-jit

.DEFAULT_GOAL := help
.PHONY: help install demo demo-gpt demo-distributed test test-npu test-distributed test-debug test-jit codegen check stats lint format parity fuzz bench bench-ops bench-npu bench-distributed docs wheel diff snapshot clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-18s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

$(PY):
	@echo "making $(VENV) and installing mindtorch and its tools in it: about a minute"
	@$(PYTHON) -c 'import sys; sys.version_info >= (3, 10) or sys.exit("mindtorch needs Python 3.10 or newer")'
	@$(PYTHON) -m venv $(VENV)

$(DEV): pyproject.toml setup.py | $(PY)
	@echo "installing mindtorch for editing"
	@$(PY) -m pip install --disable-pip-version-check -q -e ".[dev]"
	@touch $@

$(PEER): $(DEV)
	@echo "installing torch, to compare with"
	@$(PY) -m pip install --disable-pip-version-check -q -e ".[dev,peer]"
	@touch $@

$(EXAMPLES): $(DEV)
	@echo "installing what the examples need"
	@$(PY) -m pip install --disable-pip-version-check -q -e ".[dev,examples]"
	@touch $@

$(MPI): $(DEV)
	@echo "installing MPI"
	@$(PY) -m pip install --disable-pip-version-check -q -e ".[dev,mpi]"
	@touch $@

$(JIT): $(DEV)
	@echo "installing what compiles loops"
	@$(PY) -m pip install --disable-pip-version-check -q -e ".[dev,jit]"
	@touch $@

install: $(DEV) ## make .venv and install mindtorch in it, with the development tools
	@echo "mindtorch is installed: $(PY)"

# Where to train: `make demo DEVICE=npu`, on a simulated device (which needs a C compiler) if CANN is not installed.
DEVICE ?=

demo: $(EXAMPLES) ## set everything up, regenerate, and train a model of handwritten digits, on DEVICE=...
	$(PY) -m codegen
	$(PY) $(if $(filter npu,$(DEVICE)),-m tests.npu.run) examples/digits.py $(DEVICE:%=--device %)

demo-gpt: $(EXAMPLES) ## train a small transformer to write like Moby-Dick
	$(PY) examples/gpt.py

# mpiexec does not hand on the terminal, so the program is told whether there is one.
demo-distributed: $(EXAMPLES) $(MPI) ## train the model of handwritten digits in 2 processes
	$(PY) -m mindtorch.distributed.run --nproc-per-node 2 examples/digits_distributed.py $$(test -t 2 && echo --bar)

test: $(DEV) ## run the tests (all but the comparison with torch, the wheel and the documentation), or FILES=...
	$(PYTEST) -n $(JOBS) -m "not wheel and not site" $(or $(FILES),--ignore=tests/parity --ignore=tests/distributed)

# The library on a simulated Ascend device, in a process of its own: a second device changes how all kernels are found.
test-npu: $(DEV) ## run the tests that any device passes on the simulated NPU (needs a C compiler)
	MINDTORCH_DEVICE=npu $(PYTEST) -n $(JOBS) tests/device

test-distributed: $(MPI) ## run programs of 2, 3 and 4 processes (installs MPI)
	MINDTORCH_REQUIRE_MPI=1 $(PYTEST) tests/distributed

# Every op in all its forms, and the rules of this library, in two minutes. For the rest, gradients by finite differences
# and the comparison with torch, which take half an hour: make test-debug DEBUG_TESTS="tests/ops tests/unit tests/parity"
DEBUG_TESTS ?= tests/ops/test_ops.py tests/ops/test_values.py tests/unit tests/test_tiny.py

test-debug: $(DEV) ## run all ops and the unit tests with the asserts on memory and versions
	MINDTORCH_DEBUG=1 $(PYTEST) -n $(JOBS) $(DEBUG_TESTS)

# Every op in all its forms, its values and gradients, and the loops themselves, in three minutes. The other tests run
# with NumPy's loops, unless the environment says otherwise: MINDTORCH_JIT=1 make parity
JIT_TESTS ?= tests/ops/test_ops.py tests/ops/test_values.py tests/ops/test_derivatives.py tests/unit/backends

test-jit: $(JIT) ## run all ops and their gradients with compiled loops (installs llvmlite), or JIT_TESTS=...
	$(PY) -m mindtorch.kernels build
	MINDTORCH_JIT=1 $(PYTEST) -n $(JOBS) $(JIT_TESTS)

codegen: $(DEV) ## write generated/ from ops.yaml and derivatives.yaml, and what the sample package has of it
	$(PY) -m codegen
	$(PY) -m codegen --project examples/wavelets
	$(PY) -m codegen --project mindtorch/npu/package

check: lint ## lint; generated files are current, and modules import only from lower layers
	$(PY) -m codegen check
	$(PY) -m codegen --project examples/wavelets check
	$(PY) -m codegen --project mindtorch/npu/package check
	$(PYTEST) tests/test_layers.py

stats: $(DEV) ## count ops, formulas and kernels, and list what is missing
	$(PY) -m codegen stats

lint: $(DEV) ## ruff, black on the hand-written code, and mypy
	$(BIN)/ruff check .
	$(BIN)/black -q --check $(HAND_WRITTEN) || (echo "not formatted: run make format"; exit 1)
	$(BIN)/mypy

format: $(DEV) ## let ruff fix what it can and black format the hand-written code
	$(BIN)/ruff check --fix .
	$(BIN)/black -q $(HAND_WRITTEN)

parity: $(PEER) ## compare with torch (installs it), in all files or in FILES=...
	$(PYTEST) -n $(JOBS) $(or $(FILES),tests/parity)

MINUTES ?= 10
SEED ?=

fuzz: $(PEER) ## run random programs in mindtorch and in torch: make fuzz MINUTES=10 SEED=1
	$(PY) -m tests.parity.random_programs.fuzz --minutes $(MINUTES) $(SEED:%=--seed %)

bench: $(PEER) ## time mindtorch and torch in turn; writes benchmarks/results.md
	$(PY) -m benchmarks

# make bench-ops OPTIONS="--quick", or "--against v0.1 --check --only sum": see docs/performance.md.
OPTIONS ?=

bench-ops: $(PEER) ## time every op against torch (half an hour), or with OPTIONS=...; writes benchmarks/ops.*
	$(PY) -W ignore -m benchmarks.ops $(OPTIONS)

bench-npu: $(DEV) ## time launches on the simulated NPU (needs a C compiler); writes benchmarks/launches.md
	$(PY) -m benchmarks.launches

bench-distributed: $(PEER) $(MPI) ## time collectives of two processes against torch's gloo; writes benchmarks/collectives.md
	$(PY) -m benchmarks.collectives

docs: $(DEV) ## build the documentation, a page per op included, in site/, and test it; begin with site/index.html
	$(PY) -m codegen
	NO_MKDOCS_2_WARNING=1 $(PY) -m mkdocs build --strict
	$(PYTEST) -n $(JOBS) -m site tests/packaging

wheel: $(DEV) ## build dist/ (the wheel through the sdist) and test the wheel in a fresh environment
	rm -rf dist
	$(PY) -m build
	$(PYTEST) -m wheel tests/packaging

diff: $(DEV) ## what changed since BASE (default: where the branch leaves main), and what it breaks for whom
	@$(PY) -m codegen diff $(if $(filter undefined,$(origin BASE)),,"$(BASE)")

snapshot: $(DEV) ## note the schemas of a release, schemas/v<version>.txt, to compare later ones with
	$(PY) -m codegen snapshot

clean: ## remove the environment and everything built
	rm -rf $(VENV) build dist site *.egg-info .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

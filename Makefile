# Two commands for a newcomer: `make report` and `make test`. Everything lives in .venv; nothing else is touched.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
INSTALLED := $(VENV)/installed
PIP := $(BIN)/python -m pip --disable-pip-version-check
# The tests start some hundred interpreters: what one has compiled the others read, also where the caller forbids it.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.PHONY: help relink install report test lint triton format libraries exchange gpu record samples corpus evidence clean

help:            ## this list
	@sed -n 's/^\([a-z]*\): .*## /  make \1\t/p' Makefile

# The build hook links each entry of stridecheck/: it has to run again where one appears or goes, not where one changes.
ENTRIES := $(filter-out __pycache__,$(notdir $(wildcard stridecheck/*)))
LINKS := $(filter-out $(wildcard *),$(notdir $(wildcard .editable/stridecheck/*)))
RELINK := $(filter-out $(LINKS),$(ENTRIES)) $(filter-out $(ENTRIES),$(LINKS))

# torch comes first and by pip: a resolver with a free hand takes a build with several GB of CUDA packages. With
# hatchling beside it nothing has to be fetched where everything is installed: an isolated build would ask for it anew.
$(INSTALLED): pyproject.toml ci/constraints.txt ci/build_hook.py $(if $(strip $(RELINK)),relink)
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(PIP) install --quiet --constraint ci/constraints.txt torch hatchling
	$(PIP) install --quiet --constraint ci/constraints.txt --no-build-isolation --editable '.[dev]'
	touch $@

install: $(INSTALLED)   ## .venv with the suite and everything that it tests

report: $(INSTALLED)    ## check torch and numpy, time layouts, write out/report.html
	$(BIN)/stridecheck check torch numpy cupy --skip-missing --workers 2 --out out
	$(BIN)/stridecheck bench --quick --out out/bench
	$(BIN)/stridecheck report out out/bench --out out

# Files in their order, not those of many tests first: the few long tests would then be last, and one process do them alone.
test: $(INSTALLED)      ## the suite's own tests
	$(BIN)/python -m pytest --quiet --numprocesses auto --dist loadfile --no-loadscope-reorder

lint: $(INSTALLED)      ## ruff and mypy
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	cd .editable && ../$(BIN)/mypy --config-file ../pyproject.toml

# The kernel of copies on a GPU, in Triton's interpreter and compiled for a GPU that is not here. Triton is large and of
# use to nothing else: it lies apart, and `make test` skips these tests.
TRITON := .cache/triton
triton: $(INSTALLED)    ## the tests of the GPU's copy kernel that need Triton, but no GPU
	test -d $(TRITON)/triton || $(PIP) install --quiet --constraint ci/constraints.txt --no-deps --target $(TRITON) triton
	PYTHONPATH=$(TRITON) $(BIN)/python -m pytest --quiet tests/kernels/test_device.py

format: $(INSTALLED)    ## let ruff write the code
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

# The long proofs, hours together: every small layout, runs that are killed and gone on with, a million random
# programs, memory shared between processes a hundred times, PyTorch's own samples, mutants, speed. docs/evidence.md has
# what each showed last.
evidence: $(INSTALLED)  ## what is too long for `make test`
	$(BIN)/python -m stridecheck.conformance.exhaustive
	$(BIN)/python -m stridecheck.conformance.survival --kills 20
	$(BIN)/python -m stridecheck.conformance.survival --kills 20 -- torch --examples 20000 --workers 2
	$(BIN)/stridecheck check torch --programs 0 --exhaustive --out out/evidence/exhaustive
	$(BIN)/stridecheck check torch --programs 0 --examples 1000000 --workers 2 --out out/evidence/random
	$(BIN)/stridecheck check torch --programs 0 --draw mixed --examples 200000 --workers 2 --out out/evidence/mixed
	for time in $$(seq 100); do $(BIN)/python -m pytest -q tests/reference_impl/test_shared_memory.py || exit 1; done
	$(BIN)/stridecheck check torch --programs 0 --opinfo '*' --out out/evidence/opinfo
	$(BIN)/python -m stridecheck.conformance.false_alarms --seeds 100 --examples 1000
	$(BIN)/stridecheck mutants --seconds 60 --out out/evidence/mutants
	$(BIN)/python -m stridecheck.benchmarks.throughput
	$(BIN)/python -m stridecheck.benchmarks.agreement
	$(BIN)/stridecheck bench --self-test --pairs 20 --quick --processes 3 --visits 4 --adapters torch --out out/evidence/self-test

# Each library in an environment of its own under .cache/libraries; what cannot be had here is named and left out.
# `make libraries LIBRARIES="--only mlx,jax --programs 200"` checks some on less, `LIBRARIES=--update` writes the lists anew.
LIBRARIES ?= --programs 1000
libraries: $(INSTALLED) ## check every library that can be had here, and the scripts of docs/findings
	$(BIN)/python -m stridecheck.ci.libraries $(LIBRARIES)

exchange: $(INSTALLED)  ## hand arrays from PyTorch to NumPy and back in every way; what is not as listed is red
	$(BIN)/stridecheck exchange torch numpy --out out/exchange

# For a machine with a GPU and without a network: `make gpu WHEELS=folder PARTS='permutations copies'`, see docs/gpu.md.
# Exit code 3: no GPU here.
WHEELS ?=
PARTS ?=
gpu:             ## check and time torch:cuda and cupy; one result file, out/gpu.zip
	PYTHON="$(PYTHON)" ci/gpu.sh "$(WHEELS)" $(PARTS)

record: $(INSTALLED)    ## record anew what the oracle does with the corpus, after a change of what is expected
	$(BIN)/python -m stridecheck.conformance.corpus --record

samples: $(INSTALLED)   ## take PyTorch's own operator samples from the torch that is installed, as data
	$(BIN)/python -m stridecheck.conformance.opinfo

corpus: $(INSTALLED)    ## draw the committed corpus anew, and the lists of known deviations with it
	$(BIN)/python -m stridecheck.conformance.corpus
	-$(BIN)/stridecheck check torch numpy --update-expectations --out out/expectations
	-$(BIN)/python -m stridecheck.ci.libraries --update

clean:           ## remove what these commands made
	rm -rf $(VENV) .editable .cache out

# Two commands set everything up: `make demo` and `make test`. Each builds what it needs in .venv.
#
#   make check      while you work: lint, types, the quick unit tests; under three minutes on two cores
#   make test       what continuous integration runs: a sample of all tests; SEED=7 draws another, CASES=all runs all cases
#   make nightly    everything, in parts that resume; before a release

PYTHON ?= python3
BIN := .venv/bin
LOCKED := -m pip install --quiet --disable-pip-version-check --no-deps --require-hashes --requirement
# Half of what tests install is never imported: compile the rest when it is.
LOCKED_FOR_TESTS := $(LOCKED:install=install --no-compile)
ITSELF := -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable .
# Java that Spark runs on: 17 or later.
JAVA = java=$$("$${JAVA_HOME:+$$JAVA_HOME/bin/}java" -version 2>&1 | sed -n 's/.*version "\([0-9]*\).*/\1/p'); [ "$${java:-0}" -ge 17 ]
# End a test that hangs, with the stacks of its threads.
ENDING := --override-ini faulthandler_timeout=600 --override-ini faulthandler_exit_on_timeout=true
PYTEST := $(BIN)/python -m pytest --dist loadgroup --no-loadscope-reorder $(ENDING)
# One process more than there are cores, since tests of servers and browsers wait.
MORE_PROCESSES := --numprocesses $(shell $(PYTHON) -c 'import os; print(os.cpu_count() + 1)')

# Hundreds of processes import the same files: compile each once, even where the environment says not to. One thread of
# BLAS for each process of pytest.
export PYTHONDONTWRITEBYTECODE :=
export OPENBLAS_NUM_THREADS := 1

.PHONY: demo test check nightly mutants lint types docs quick sample pytest browser packages client portable minimum newer spark \
    minimum-environment newer-environment spark-environment environments lock bench fuzz fuzz-batches fuzz-api kill-collector \
    bench-collect bench-billion figures screenshots clean

demo: .venv/.core
	$(BIN)/hush demo

check: lint types quick

test:  # two static checks at a time, then the tests
	@$(MAKE) --no-print-directory .venv/.dev browser packages
	@$(MAKE) --no-print-directory --jobs 2 lint types docs
	@$(MAKE) --no-print-directory sample

nightly: .venv/.dev browser packages  # PARTS="unit-audit system" runs those; passed parts are skipped until a file changes; FRESH=1 runs all
	$(BIN)/python -m tests.nightly $(if $(FRESH),--fresh) $(PARTS)

mutants: .venv/.dev  # COUNT of mutants, SEED of the draw; LIMIT stops after so many seconds, and the next run resumes
	$(BIN)/python -m tests.mutation --count $(or $(COUNT),84) --seed $(or $(SEED),0) $(if $(LIMIT),--limit-seconds $(LIMIT))

lint: .venv/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: .venv/.dev
	$(BIN)/mypy

quick: .venv/.dev
	$(PYTEST) --numprocesses auto --tier check --cases 3

sample: .venv/.dev browser packages  # the sample of tests that `make test` runs
	$(PYTEST) $(MORE_PROCESSES) --tier test --cases $(or $(CASES),sample) $(if $(SEED),--seed $(SEED))

pytest: .venv/.dev browser packages  # all cases of all tests, or of those in PATHS
	$(PYTEST) $(MORE_PROCESSES) $(PATHS)

portable: .venv/.dev
	$(BIN)/python -m tests.portable --numprocesses auto

browser:  # Chromium, for tests of web pages, where it may be installed
	@for each in chromium chromium-browser google-chrome; do command -v $$each > /dev/null && exit 0; done; \
	if [ "$$(id -u)" = 0 ] && command -v apt-get > /dev/null; then \
	    export DEBIAN_FRONTEND=noninteractive; apt-get update --quiet=2 && \
	    apt-get install --quiet=2 --yes --no-install-recommends chromium > /dev/null && exit 0; \
	fi; \
	echo "browser: tests in a browser are skipped, since none is installed; on Debian: apt-get install chromium"

packages: clients/javascript/node_modules/.done  # for tests of the built JavaScript client

clients/javascript/node_modules/.done: clients/javascript/package-lock.json
	@if command -v npm > /dev/null && cd clients/javascript && npm ci --ignore-scripts --silent; then \
	    touch node_modules/.done; \
	else \
	    echo "packages: tests of the built JavaScript client are skipped, since they need npm; on Debian: apt-get install npm"; \
	fi

client: packages  # the JavaScript module that the collector serves to web pages
	cd clients/javascript && node build.js

docs: .venv/.dev
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet

fuzz: .venv/.dev  # SECONDS is how long, FIRST the number of the first case
	$(BIN)/python -m tests.fuzz --seconds $(or $(SECONDS),600) --first $(or $(FIRST),1000)

figures: .venv/.dev
	$(BIN)/python docs/figures.py

screenshots: .venv/.dev browser  # of the workbench, by a real browser
	$(BIN)/python docs/screenshots.py

fuzz-batches: .venv/.dev  # INPUTS is how many
	$(BIN)/python -m tests.fuzz_batches --inputs $(or $(INPUTS),1000000)

fuzz-api: .venv/.dev  # EXAMPLES is how many requests of each operation
	HUSH_EXAMPLES=$(or $(EXAMPLES),2000) $(BIN)/python -m pytest -n 0 tests/unit/collect/test_collect_openapi.py

kill-collector: .venv/.dev  # CYCLES is how often
	$(BIN)/python -m tests.kill_server --cycles $(or $(CYCLES),100)
	$(BIN)/python -m tests.kill_client --cycles $(or $(CYCLES),100)

bench: .venv/.dev
	$(BIN)/python -m benchmarks

bench-billion: .venv/.dev  # SCALE is the share of 1,139,469,767 values; all of them take 15 GB of disk
	$(BIN)/python -m benchmarks billion --scale $(or $(SCALE),0.01)

bench-collect: .venv/.dev  # needs wrk, a package of Debian
	$(BIN)/python -m benchmarks collect faults

ifeq ($(shell $(PYTHON) -c 'import sys; print(*sys.version_info[:2])'),3 11)
minimum-environment: .venv-minimum/.done

minimum: .venv-minimum/.done
	.venv-minimum/bin/python -m tests.versions --numprocesses auto
else
minimum-environment:

minimum:
	@echo "minimum: skipped, since the least versions are those for Python 3.11, and this is $(shell $(PYTHON) --version)"
endif

newer-environment:
	@set -- $$($(PYTHON) tests/interpreters.py 3.12 3.13); [ -z "$$1" ] || $(MAKE) .venv-$$1/.done NEWER="$$2"

newer: newer-environment
	@set -- $$($(PYTHON) tests/interpreters.py 3.12 3.13); \
	if [ -z "$$1" ]; then \
	    echo "newer: skipped, since neither Python 3.12 nor 3.13 starts here, on the path or from pyenv's versions"; \
	else \
	    .venv-$$1/bin/python -m tests.versions --few --numprocesses auto; \
	fi

spark-environment:
	@$(JAVA) || exit 0; $(MAKE) .venv-spark/.done

spark: spark-environment
	@if $(JAVA); then \
	    .venv-spark/bin/python -m pytest --confcutdir tests/spark tests/spark; \
	else \
	    echo "spark: skipped, since Spark needs Java 17 or later; on Debian: apt-get install default-jre-headless"; \
	fi

environments: minimum-environment newer-environment spark-environment  # of minimum, newer and spark

lock: .venv/bin/python
	$(BIN)/python requirements/lock.py

.venv/bin/python:
	$(PYTHON) -m venv .venv

.venv/.core: .venv/bin/python pyproject.toml requirements/core.txt
	$(BIN)/python $(LOCKED) requirements/core.txt
	$(BIN)/python $(ITSELF)
	touch $@

.venv/.dev: .venv/bin/python pyproject.toml requirements/dev.txt
	$(BIN)/python $(LOCKED_FOR_TESTS) requirements/dev.txt
	$(BIN)/python $(ITSELF)
	touch $@ .venv/.core

.venv-3.%/.done: pyproject.toml requirements/dev.txt
	$(NEWER) -m venv .venv-3.$*
	.venv-3.$*/bin/python $(LOCKED_FOR_TESTS) requirements/dev.txt
	.venv-3.$*/bin/python $(ITSELF)
	touch $@

.venv-spark/.done: pyproject.toml requirements/spark.txt
	$(PYTHON) -m venv .venv-spark
	.venv-spark/bin/python $(LOCKED_FOR_TESTS) requirements/spark.txt
	.venv-spark/bin/python $(ITSELF)
	touch $@

.venv-minimum/.done: pyproject.toml requirements/minimum.txt
	$(PYTHON) -m venv .venv-minimum
	.venv-minimum/bin/python $(LOCKED_FOR_TESTS) requirements/minimum.txt
	.venv-minimum/bin/python $(ITSELF)
	touch $@

clean:
	rm -rf clients/javascript/node_modules clients/javascript/dist clients/javascript/types
	rm -rf .venv .venv-minimum .venv-3.* .venv-spark .nightly .mutants site hush-demo hush-reproduce .mypy_cache .ruff_cache .pytest_cache .hypothesis

# Two commands set everything up: `make demo` and `make test`. Each builds what it needs in .venv.
# While working, `make check`: what takes under three minutes on two cores.

PYTHON ?= python3
BIN := .venv/bin
LEAST := .venv-minimum/bin
# The lock file names all there is, so that nothing is left to resolve.
LOCKED := -m pip install --quiet --disable-pip-version-check --no-deps --require-hashes --requirement
# Whether there is a Java that Spark runs on.
JAVA = java=$$("$${JAVA_HOME:+$$JAVA_HOME/bin/}java" -version 2>&1 | sed -n 's/.*version "\([0-9]*\).*/\1/p'); [ "$${java:-0}" -ge 17 ]
ENDING := --override-ini faulthandler_timeout=600 --override-ini faulthandler_exit_on_timeout=true
ITSELF := -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable .

.PHONY: demo test check lint types docs pytest quick browser packages client portable minimum newer spark least-environment newer-environment \
    spark-environment lock bench fuzz fuzz-batches fuzz-api kill-collector bench-collect bench-billion figures screenshots clean

demo: .venv/.core
	$(BIN)/hush demo

check: lint types quick

test: lint types  # other environments are fetched while pytest runs
	$(MAKE) --no-print-directory --jobs 2 pytest least-environment newer-environment spark-environment
	$(MAKE) --no-print-directory portable minimum newer spark docs

lint: .venv/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: .venv/.dev
	$(BIN)/mypy

quick: .venv/.dev
	OPENBLAS_NUM_THREADS=1 $(BIN)/python -m tests.quick --numprocesses auto --maxschedchunk 8

pytest: .venv/.dev browser packages  # tests of a group share what one process makes; one that hangs ends, and fails
	OPENBLAS_NUM_THREADS=1 $(BIN)/pytest --numprocesses auto --dist loadgroup --no-loadscope-reorder $(ENDING)

portable: .venv/.dev
	$(BIN)/python -m tests.portable --numprocesses auto --maxschedchunk 8

browser:  # for tests of the client for web pages, where it may be installed
	@for each in chromium chromium-browser google-chrome; do command -v $$each > /dev/null && exit 0; done; \
	if [ "$$(id -u)" = 0 ] && command -v apt-get > /dev/null; then \
	    export DEBIAN_FRONTEND=noninteractive; apt-get update --quiet=2 && \
	    apt-get install --quiet=2 --yes --no-install-recommends chromium > /dev/null && exit 0; \
	fi; \
	echo "browser: tests in a browser are skipped, for there is none; on Debian: apt-get install chromium"

packages: clients/javascript/node_modules/.done  # for tests of what the client for web pages is built to

clients/javascript/node_modules/.done: clients/javascript/package-lock.json
	@if command -v npm > /dev/null && cd clients/javascript && npm ci --ignore-scripts --silent; then \
	    touch node_modules/.done; \
	else \
	    echo "packages: tests of the built client are skipped, for they need npm; on Debian: apt-get install npm"; \
	fi

client: packages  # what the collector serves to web pages
	cd clients/javascript && node build.js

docs: .venv/.dev
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet

fuzz: .venv/.dev  # SECONDS is how long, FIRST the number of the first case
	OPENBLAS_NUM_THREADS=1 $(BIN)/python -m tests.fuzz --seconds $(or $(SECONDS),600) --first $(or $(FIRST),1000)

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
least-environment: .venv-minimum/.done

minimum: .venv-minimum/.done
	$(LEAST)/python -m tests.versions --numprocesses auto --maxschedchunk 8
else
least-environment:

minimum:
	@echo "minimum: skipped, for the least versions go with Python 3.11, and this is $(shell $(PYTHON) --version)"
endif

newer-environment:
	@set -- $$($(PYTHON) tests/interpreters.py 3.12 3.13); [ -z "$$1" ] || $(MAKE) .venv-$$1/.done NEWER="$$2"

newer: newer-environment
	@set -- $$($(PYTHON) tests/interpreters.py 3.12 3.13); \
	if [ -z "$$1" ]; then \
	    echo "newer: skipped, for neither Python 3.12 nor 3.13 starts here, on the path or from pyenv's versions"; \
	else \
	    .venv-$$1/bin/python -m tests.versions --few --numprocesses auto --maxschedchunk 8; \
	fi

spark-environment:
	@$(JAVA) || exit 0; $(MAKE) .venv-spark/.done

spark: spark-environment
	@if $(JAVA); then \
	    OPENBLAS_NUM_THREADS=1 .venv-spark/bin/python -m pytest --confcutdir tests/spark tests/spark; \
	else \
	    echo "spark: skipped, for Spark needs Java 17 or later; on Debian: apt-get install default-jre-headless"; \
	fi

lock: .venv/bin/python
	$(BIN)/python requirements/lock.py

.venv/bin/python:
	$(PYTHON) -m venv .venv

.venv/.core: .venv/bin/python pyproject.toml requirements/core.txt
	$(BIN)/python $(LOCKED) requirements/core.txt
	$(BIN)/python $(ITSELF)
	touch $@

.venv/.dev: .venv/bin/python pyproject.toml requirements/dev.txt
	$(BIN)/python $(LOCKED) requirements/dev.txt
	$(BIN)/python $(ITSELF)
	touch $@ .venv/.core

.venv-3.%/.done: pyproject.toml requirements/dev.txt
	$(NEWER) -m venv .venv-3.$*
	.venv-3.$*/bin/python $(LOCKED) requirements/dev.txt
	.venv-3.$*/bin/python $(ITSELF)
	touch $@

.venv-spark/.done: pyproject.toml requirements/spark.txt
	$(PYTHON) -m venv .venv-spark
	.venv-spark/bin/python $(LOCKED) requirements/spark.txt
	.venv-spark/bin/python $(ITSELF)
	touch $@

.venv-minimum/.done: pyproject.toml requirements/minimum.txt
	$(PYTHON) -m venv .venv-minimum
	$(LEAST)/python $(LOCKED) requirements/minimum.txt
	$(LEAST)/python $(ITSELF)
	touch $@

clean:
	rm -rf clients/javascript/node_modules clients/javascript/dist clients/javascript/types
	rm -rf .venv .venv-minimum .venv-3.* .venv-spark site hush-demo hush-reproduce .mypy_cache .ruff_cache .pytest_cache .hypothesis

# Two commands set everything up: `make demo` and `make test`. Each builds what it needs in .venv.

PYTHON ?= python3
BIN := .venv/bin
PIP := $(BIN)/pip install --quiet --disable-pip-version-check --constraint constraints.txt

.PHONY: demo test lint types docs pytest portable bench fuzz figures clean

demo: .venv/.core
	$(BIN)/hush demo

test: lint types pytest portable docs

lint: .venv/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: .venv/.dev
	$(BIN)/mypy

pytest: .venv/.dev
	OPENBLAS_NUM_THREADS=1 $(BIN)/pytest --numprocesses auto --maxschedchunk 8

portable: .venv/.dev
	$(BIN)/python -m tests.portable --numprocesses auto --maxschedchunk 8

docs: .venv/.dev
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet

fuzz: .venv/.dev  # SECONDS is how long, FIRST the number of the first case
	OPENBLAS_NUM_THREADS=1 $(BIN)/python -m tests.fuzz --seconds $(or $(SECONDS),600) --first $(or $(FIRST),1000)

figures: .venv/.dev
	$(BIN)/python docs/figures.py

bench: .venv/.dev
	$(BIN)/python -m benchmarks

.venv/bin/python:
	$(PYTHON) -m venv .venv

.venv/.core: .venv/bin/python pyproject.toml constraints.txt
	$(PIP) --editable .
	touch $@

.venv/.dev: .venv/bin/python pyproject.toml constraints.txt
	$(PIP) --editable '.[dev]'
	touch $@ .venv/.core

clean:
	rm -rf .venv site hush-demo hush-reproduce .mypy_cache .ruff_cache .pytest_cache .hypothesis

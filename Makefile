# Two commands on a fresh machine: `make quick` and `make test`.
PYTHON ?= $(shell command -v python3.11 || command -v python3.12 || echo python3)
VENV   ?= .venv
BIN    := $(VENV)/bin

.PHONY: quick test lint install install-dev clean-venv

quick: install
	$(BIN)/venus run quick

test: install-dev lint
	$(BIN)/python -m pytest

lint: install-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

install: $(VENV)/.installed

install-dev: $(VENV)/.installed-dev

# torch goes first: another package that asks for "torch" would otherwise choose the build. The locks are complete,
# so nothing is resolved; modules are compiled when they are first imported, which most of them never are.
PIP := $(BIN)/python -m pip install --quiet --no-compile
$(VENV)/.installed: requirements.lock pyproject.toml
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(PIP) --no-deps "$$(grep '^torch==' requirements.lock)"
	$(PIP) --no-deps -r requirements.lock
	$(PIP) --no-deps --no-build-isolation -e .
	touch $@

$(VENV)/.installed-dev: $(VENV)/.installed requirements-dev.lock
	$(PIP) --no-deps -r requirements-dev.lock
	touch $@

clean-venv:
	rm -rf $(VENV)

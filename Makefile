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

# torch goes first: another package that asks for "torch" would otherwise choose the build.
$(VENV)/.installed: requirements.lock pyproject.toml
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet "$$(grep '^torch==' requirements.lock)"
	$(BIN)/python -m pip install --quiet -r requirements.lock
	$(BIN)/python -m pip install --quiet --no-deps --no-build-isolation -e .
	touch $@

$(VENV)/.installed-dev: $(VENV)/.installed requirements-dev.lock
	$(BIN)/python -m pip install --quiet -r requirements-dev.lock
	touch $@

clean-venv:
	rm -rf $(VENV)

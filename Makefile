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
# so nothing is resolved. Modules are compiled afterwards, on all cores, without those that are seldom imported;
# some packages ship templates that do not compile, hence the "|| true".
SELDOM := /(transformers/models/(?!auto|llama|qwen)|torch/(_inductor|onnx|testing)|ray/(rllib|serve|tune|llm)|sympy/(physics|combinatorics|geometry|stats)|wandb|sqlalchemy|alembic|tests?)/
PIP := $(BIN)/python -m pip install --quiet --no-compile
$(VENV)/.installed: requirements.lock pyproject.toml
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(PIP) --no-deps "$$(grep '^torch==' requirements.lock)"
	$(PIP) --no-deps -r requirements.lock
	$(PIP) --no-deps --no-build-isolation -e .
	$(BIN)/python -m compileall -qq -j 0 -x '$(SELDOM)' $(VENV)/lib || true
	touch $@

$(VENV)/.installed-dev: $(VENV)/.installed requirements-dev.lock
	$(PIP) --no-deps -r requirements-dev.lock
	touch $@

clean-venv:
	rm -rf $(VENV)

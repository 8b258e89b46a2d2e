# `make run` and `make test` are all that a new machine needs: each sets up what it uses, in this folder.

PYTHON ?= python3
BIN := .venv/bin
export PORT HOST ENDPOINT STAGE NAMESPACE LABEL

.PHONY: run test check format bench interop token lock clean

run: .venv/local.stamp ## start the service on this machine (PORT, HOST, ENDPOINT)
	@exec $(BIN)/python -m infra.local

test: .venv/dev.stamp ## run every test
	$(BIN)/python -m pytest -n auto --dist loadfile

check: .venv/dev.stamp ## format, lint, types, tests: what CI runs
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(MAKE) test

format: .venv/dev.stamp
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

bench: .venv/dev.stamp ## print ratios, calls and capacity units from one run
	$(BIN)/python -m bench

interop: .venv/local.stamp ## run OctoStore's own programs against the service (needs cargo)
	@$(BIN)/python -m infra.interop

token: .venv/local.stamp ## make the first admin token of a stage (STAGE, NAMESPACE, LABEL; needs AWS credentials)
	@$(BIN)/python -m infra.token

lock: .venv/dev.stamp ## resolve the pinned requirements anew
	$(BIN)/pip install --quiet uv
	for pair in service:requirements.txt local:requirements/local.txt dev:requirements/dev.txt; do \
	  $(BIN)/uv pip compile --quiet --upgrade --universal --python-version 3.11 --generate-hashes --no-header \
	    requirements/$${pair%%:*}.in --output-file $${pair##*:} || exit 1; \
	done

.venv/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "Octolease needs Python 3.11 or newer; set PYTHON=/path/to/one."; exit 1; }
	$(PYTHON) -m venv .venv

.venv/local.stamp: requirements/local.txt | .venv/bin/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements/local.txt
	@touch $@

.venv/dev.stamp: requirements/dev.txt | .venv/bin/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements/dev.txt
	@touch $@ .venv/local.stamp

clean:
	rm -rf .venv .octolease .mypy_cache .ruff_cache .pytest_cache .hypothesis

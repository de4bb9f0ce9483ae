# Everything installs itself into .venv: only Python 3.11 or newer, make and a package index are needed.
PYTHON ?= python3
BIN := .venv/bin
DIST := dist
INSTALLED := .venv/.installed
FOR_DEMO := .venv/.installed-for-demo
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check

# Tests start hundreds of processes: what is imported is compiled once, and not by each of them.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: demo test test-slow test-postgresql test-shared check docs wheel bench soak lock clean

# Needs no development tools: the program, the embedded model, and what draws the report.
demo: $(FOR_DEMO)
	$(BIN)/evenhand models fetch local/smollm2
	$(BIN)/evenhand demo

# Each process takes one file after the other, the longest first, and imports it when it does (tests/by_file.py). How
# many tests there are is known at the end, so no share of them is told.
BY_FILE := --by-file --maxschedchunk 1 -o console_output_style=classic

# More processes than cores here too: some tests wait for a server, or for a limit of the program.
QUICK_PROCESSES ?= 3
test: $(INSTALLED)
	$(BIN)/evenhand models fetch local/smollm2
	$(BIN)/python -m pytest -n $(QUICK_PROCESSES) $(BY_FILE) -m "not soak and not slow"

# What is slow by nature: browsers, fuzzing, kill loops, installs, and more examples of what is drawn at random.
# More processes than cores: much of it waits for a browser, a server or a package index. The longest files come first
# (tests/tiers.py), not those of the most tests.
SLOW_PROCESSES ?= 4
test-slow: $(INSTALLED)
	$(BIN)/evenhand models fetch local/smollm2
	EVENHAND_EXAMPLES=many $(BIN)/python -m pytest -n $(SLOW_PROCESSES) $(BY_FILE) -m "(slow or drawn) and not soak"

# The same tests with their ledgers on a PostgreSQL server that they start. Left out is what says nothing more there:
# of ledger, what is on a server of its own wherever the others are, and runs in `make test` and `make test-slow`;
# of site, parts of pages and words (test_parts, test_submission_words), and test_attacker, which reads all pages of many
# histories for what figures give away.
ON_POSTGRESQL := tests/engine tests/worker tests/ledger tests/site tests/e2e
ELSEWHERE := tests/ledger/test_postgresql.py tests/ledger/test_batches_postgresql.py tests/ledger/test_server.py tests/ledger/test_server_cut.py \
  tests/ledger/test_server_full.py tests/site/test_parts.py tests/site/test_submission_words.py tests/site/test_attacker.py
test-postgresql: $(INSTALLED)
	EVENHAND_TEST_DATABASE=postgresql timeout --signal=INT 1800 $(BIN)/python -m pytest -n 2 $(BY_FILE) -m "not soak and not slow" $(ON_POSTGRESQL) $(ELSEWHERE:%=--ignore=%)
	EVENHAND_TEST_DATABASE=postgresql timeout --signal=INT 600 $(BIN)/python -m pytest tests/e2e/test_two_runs.py

# The tests that read ../shared, which `make test` runs too where it is there.
test-shared: $(INSTALLED)
	$(BIN)/python -m pytest -m "shared and not soak"

check: $(INSTALLED)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/basedpyright
	$(BIN)/lint-imports

# The pages of docs/ as HTML, to be opened from disk: build/docs/index.html.
docs: $(INSTALLED)
	$(BIN)/mkdocs build --strict --quiet
	@echo "Written: build/docs/index.html"

# What users install, made from this tree: dist/evenhand-VERSION-py3-none-any.whl.
wheel: $(INSTALLED)
	$(BIN)/python -m pip wheel --quiet --disable-pip-version-check --no-deps --no-build-isolation --wheel-dir $(DIST) .
	@echo "Written: $$(ls -t $(DIST)/evenhand-*.whl | head -n 1)"

bench: $(INSTALLED)
	$(BIN)/python -m bench.judging
	$(BIN)/python -m bench.record
	$(BIN)/python -m bench.scale
	$(BIN)/python -m bench.creation
	$(BIN)/python -m bench.reading
	$(BIN)/python -m bench.planning
	$(BIN)/python -m bench.ratings
	$(BIN)/python -m bench.columns
	$(BIN)/python -m bench.columns --judgements 1e6
	$(BIN)/python -m bench.coverage
	$(BIN)/python -m bench.grading
	$(BIN)/python -m bench.report
	$(BIN)/python -m bench.web_board
	$(BIN)/python -m bench.web
	$(BIN)/python -m bench.web_growing
	$(BIN)/python -m bench.web_flood

soak: $(INSTALLED)
	$(BIN)/evenhand models fetch local/smollm2
	EVENHAND_EXAMPLES=many $(BIN)/python -m pytest -m soak

define NEEDS_PYTHON
	@$(PYTHON) -c 'import sys; sys.version_info >= (3, 11) or sys.exit("Evenhand needs Python 3.11 or newer; say which with make PYTHON=python3.12.")'
endef

$(FOR_DEMO): requirements/demo.txt pyproject.toml
	$(NEEDS_PYTHON)
	@echo "Installing Evenhand with its embedded model and its report into .venv: 0.8 GB, one to five minutes …"
	$(PYTHON) -m venv .venv
	$(PIP) --require-hashes --only-binary :all: -r requirements/demo.txt
	$(PIP) --no-deps --no-build-isolation --editable .
	@touch $@

$(INSTALLED): requirements/dev.txt pyproject.toml
	$(NEEDS_PYTHON)
	@echo "Installing Evenhand with all extras and the development tools into .venv: 2 GB, two to five minutes …"
	$(PYTHON) -m venv .venv
	$(PIP) --require-hashes --only-binary :all: -r requirements/dev.txt
	$(PIP) --no-deps --no-build-isolation --editable .
	@touch $@ $(FOR_DEMO)

# Pins every version with its hashes, for every platform, and names no package host.
lock:
	$(PYTHON) -m venv .venv-lock
	.venv-lock/bin/python -m pip install --quiet uv
	.venv-lock/bin/uv pip compile --quiet --upgrade --universal --python-version 3.11 --generate-hashes \
	  --no-header --no-annotate --extra local --extra report --extra serve --extra describe --extra postgres --extra s3 --extra cluster --extra dev --output-file requirements/dev.txt pyproject.toml
	printf 'hatchling\neditables\n' > .venv-lock/builds.in
	.venv-lock/bin/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --constraint requirements/dev.txt \
	  --no-header --no-annotate --extra local --extra report --output-file requirements/demo.txt pyproject.toml .venv-lock/builds.in

clean:
	rm -rf .venv .venv-lock

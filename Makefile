# SPDX-License-Identifier: GPL-2.0
#
#   make demo     from nothing to the tables and the picture (build/demo/)
#   make test     lint, unit tests, checks of the series, guest tests on patched kernels, and on
#                 one with some seeded bugs
#   make lint     style and types only
#   make lock     write requirements*.txt anew from requirements*.in (needs uv)
#
# kbuild's names are passed on: make demo O=/big/disk ARCH=arm64; SOURCE=DIR takes your tree.

QUIRE := ./quire
WORDS := $(foreach name,O ARCH CROSS_COMPILE,$(if $($(name)),$(name)=$($(name))))
WORDS += $(if $(SOURCE),--source $(SOURCE))
# Seeded bugs of each series that a run of the tests must see; `quire seeded` tries them all.
FEW := dirty-as-it-is skip-writable no-flush address-key age-clobbers ignore-writable restore-first-only \
	run-past-table always-swapbacked swap-share-first swap-same-offset swap-ref-once marker-in-first
# One more kernel to build: one architecture will do. The bugs are for the newest base.
FEW_WORDS := $(WORDS) $(if $(ARCH),,ARCH=arm64)
PYTHON_TOOL := .venv/bin/python -m

demo:
	$(QUIRE) demo $(WORDS)

test: lint
	$(QUIRE) doctor --install $(WORDS)
	$(QUIRE) build $(WORDS)
	QUIRE_TEST_WORDS="$(WORDS)" $(PYTHON_TOOL) pytest
	$(QUIRE) check --quick $(WORDS)
	$(QUIRE) test $(WORDS)
	$(if $(SOURCE),,$(QUIRE) seeded $(FEW) $(FEW_WORDS))
	$(QUIRE) fuzz --corpus $(WORDS)

lint: dev
	$(PYTHON_TOOL) ruff check
	$(PYTHON_TOOL) ruff format --check
	$(PYTHON_TOOL) mypy

dev:
	scripts/bootstrap dev

lock:
	uv pip compile --universal --python-version 3.11 --generate-hashes --no-header \
		--no-annotate requirements.in -o requirements.txt
	uv pip compile --universal --python-version 3.11 --generate-hashes --no-header \
		--no-annotate -c requirements.txt requirements-dev.in -o requirements-dev.txt

clean:
	rm -rf build .venv

.PHONY: demo test lint dev lock clean

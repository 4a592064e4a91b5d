# SPDX-License-Identifier: GPL-2.0
#
#   make demo     from nothing to the tables and the picture (build/demo/)
#   make test     lint, unit tests, checks of the series, guest tests on patched kernels
#   make lint     style and types only
#   make lock     write requirements*.txt anew from requirements*.in (needs uv)
#
# kbuild's names are passed on: make demo O=/big/disk ARCH=arm64; SOURCE=DIR takes your tree.

QUIRE := ./quire
WORDS := $(foreach name,O ARCH CROSS_COMPILE,$(if $($(name)),$(name)=$($(name))))
WORDS += $(if $(SOURCE),--source $(SOURCE))
PYTHON_TOOL := .venv/bin/python -m

demo:
	$(QUIRE) demo $(WORDS)

test: lint
	$(QUIRE) doctor --install $(WORDS)
	$(QUIRE) build $(WORDS)
	QUIRE_TEST_WORDS="$(WORDS)" $(PYTHON_TOOL) pytest
	$(QUIRE) check --quick $(WORDS)
	$(QUIRE) test $(WORDS)
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

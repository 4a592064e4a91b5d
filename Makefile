# SPDX-License-Identifier: GPL-2.0
#
#   make try      one benchmark on arm64, in minutes: the first thing to run
#   make try-um   tests and times of one topic on x86-64, without an emulator (docs/dev/um.md)
#   make demo     tables and a page in build/demo/, from scratch, on arm64
#   make check    lint and unit tests on fakes, without the slow ones: no kernel, two minutes
#   make test     guest tests of 7.3 without an emulator, on x86-64; lint and all unit tests; the
#                 fuzzer's corpus, compared and with the oracle; checks of both series; guest
#                 tests of both; some seeded bugs with debugging options, also on two CPUs
#   make test-um  guest tests without an emulator: on x86-64 (docs/dev/um.md)
#   make check-topics  tests topics alone that changed since they last passed; part of make test
#   make programs stress-ng, Redis and others in Debian's userland: hours (docs/dev/programs.md)
#   make lint     style, types and static analysis: Python, shell, C
#   make lock     update requirements/*.txt from requirements/*.in (needs uv)
#
# kbuild's variables are passed on: make demo O=/big/disk ARCH=arm64. BASE=7.3 selects another
# kernel line, SOURCE=DIR your tree.

QUIRE := ./quire
KBUILD_WORDS := $(foreach name,O ARCH CROSS_COMPILE,$(if $($(name)),$(name)=$($(name))))
WORDS := $(KBUILD_WORDS) $(if $(SOURCE),--source $(SOURCE)) $(if $(BASE),--base $(BASE))
# These need two more kernels, one with debugging options and one with only the fixes, so they run on
# one architecture. The seeded bugs are for the newest base.
ONE_WORDS := $(WORDS) $(if $(ARCH),,ARCH=arm64)
FEW_WORDS := $(ONE_WORDS) --config configs/debug.config
# Folio sizes in KiB. Sizes in between take the same paths; `quire test` and test-um run all.
FEWER_SIZES := --size 4 --size 64 --size 2048
SIZES := $(FEWER_SIZES) --size 16
PROGRAMS := --program redis --program jemalloc --program gcc
PYTHON_TOOL := .venv/bin/python -m

# With one topic, few files differ between stock and patched.
try:
	$(QUIRE) doctor --install ARCH=arm64
	$(QUIRE) bench mremap --only mremap --size 64 ARCH=arm64 $(filter O=%,$(WORDS))

# Both kernels run as processes of this host. Other cases need patches of `fixes`.
try-um:
	$(QUIRE) doctor --install ARCH=um
	$(QUIRE) test 'lazyfree.held*-64k' --only lazyfree ARCH=um $(filter O=%,$(WORDS))
	$(QUIRE) time run lazyfree-redirtied-size=2048 --only lazyfree --runs 3 ARCH=um $(filter O=%,$(WORDS))

# Two kernels: four take more than twenty minutes on two CPUs. ./quire demo runs both architectures.
demo:
	$(QUIRE) demo $(ONE_WORDS)

check: dev
	$(MAKE) -j2 --output-sync=target lint unit

unit: dev
	$(PYTHON_TOOL) pytest -q -n auto -m "not kernel and not slow"

test:
	$(QUIRE) doctor --install $(KBUILD_WORDS)
	$(if $(SOURCE)$(ARCH),,if $(QUIRE) doctor ARCH=um; then $(MAKE) test-um BASE=$(or $(BASE),7.3); fi)
	$(MAKE) -j3 --output-sync=target lint unit-all patched
	$(QUIRE) fuzz replay --corpus $(ONE_WORDS)
	$(MAKE) -j2 --output-sync=target unit-kernel check-series $(if $(SOURCE)$(BASE),,check-series-7.3)
	$(QUIRE) test $(if $(SOURCE)$(BASE),,$(FEWER_SIZES)) $(WORDS)
	$(if $(SOURCE)$(BASE),,$(QUIRE) seeded --few --smp 2 $(FEW_WORDS))
	$(QUIRE) fuzz replay --corpus --oracle $(WORDS)
	$(if $(SOURCE)$(BASE),,$(QUIRE) test $(SIZES) --base 7.3 $(WORDS))
	$(if $(SOURCE),,$(MAKE) check-topics)

# Bugs in generic code show here in minutes, before an emulator boots. Each CPU runs a half.
test-um:
	$(MAKE) -j2 --output-sync=target test-um-1 test-um-2

test-um-%:
	$(QUIRE) test ARCH=um --shard $*/2 $(filter-out ARCH=% CROSS_COMPILE=%,$(WORDS))

# `make test` runs these in parallel, because each keeps only one CPU busy for long stretches.
unit-all: dev
	$(PYTHON_TOOL) pytest -n auto -m "not kernel"

# Many unit tests wait for child processes, so they run in parallel with the build.
patched: dev
	$(QUIRE) build --patched $(WORDS)

unit-kernel: dev
	QUIRE_TEST_WORDS="$(WORDS)" $(PYTHON_TOOL) pytest -m kernel

check-series:
	$(QUIRE) check --quick $(WORDS)

check-series-%:
	$(QUIRE) check --quick --base $* $(KBUILD_WORDS)

# Suites and times under user-mode Linux, counts in QEMU, both lines.
programs:
	$(QUIRE) doctor --install $(KBUILD_WORDS)
	$(QUIRE) doctor --install ARCH=um
	$(MAKE) programs-6.12 programs-7.3

programs-%:
	$(QUIRE) suite stress-ng --size 16 --size 64 --size 2048 --resume --base $* ARCH=um $(filter O=%,$(WORDS))
	$(QUIRE) suite stress-ng --smp 4 --resume --base $* $(KBUILD_WORDS)
	$(QUIRE) bench $(PROGRAMS) --repeat 7 --base $* ARCH=um $(filter O=%,$(WORDS))
	$(QUIRE) bench $(PROGRAMS) --base $* $(KBUILD_WORDS)

# Topics whose patches, or the patches they need, changed since they last passed alone. The budget
# leaves the rest to the next run.
check-topics:
	$(QUIRE) check --topics --changed --size 64 --budget 10 $(WORDS)
	$(if $(SOURCE)$(BASE),,$(QUIRE) check --topics --changed --size 64 --budget 10 --base 7.3 $(WORDS))

lint: dev
	$(PYTHON_TOOL) ruff check
	$(PYTHON_TOOL) ruff format --check
	$(PYTHON_TOOL) mypy
	scripts/lint-sh
	scripts/lint-c

dev:
	scripts/bootstrap dev

lock:
	cd requirements && for list in run cluster dev; do \
		uv pip compile --universal --python-version 3.11 --generate-hashes --no-header \
			--no-annotate $$list.in -o $$list.txt $$( [ $$list = run ] || echo -c run.txt ) \
			$$( [ $$list = dev ] && echo -c cluster.txt ); \
	done

clean:
	rm -rf build .venv

.PHONY: try try-um demo check check-topics unit unit-all patched unit-kernel check-series test test-um programs lint dev lock clean

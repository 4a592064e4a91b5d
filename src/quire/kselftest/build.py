# SPDX-License-Identifier: GPL-2.0
"""Compile the kernel's selftests outside of its tree, and make them tests of the guest."""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from pathlib import Path

from quire.arch import Architecture
from quire.build import guest
from quire.build.guest import Guest
from quire.build.kernel import Kernel, Toolchain, explain
from quire.host import process
from quire.host.cache import Cache, digest
from quire.kselftest import output, runs
from quire.kselftest.runs import Choice
from quire.session import Session
from quire.source.base import Base
from quire.test.suite import Tests

# The guest's directory for the programs and the plan.
DIRECTORY = "selftests"
# The result of check_config.sh, which would write it into the source tree. Our kernels have no
# io_uring. 7.3 renamed the header.
LOCAL_CONFIG = {
    "local_config.h": "/* no liburing */\n",
    "local_config.h_gen": "/* no liburing */\n",
    "local_config.mk": "IOURING_EXTRA_LIBS =\n",
}
# 6.12's khugepaged.c uses KSFT_SKIP without including the header that defines it.
DEFINES = ("-DKSFT_SKIP=4",)
# Not on every host, and not available for a foreign architecture: our own replacement.
STANDIN = "selftests/standin"


@dataclass(frozen=True)
class Bench:
    """A build of the selftests: sources, architecture, toolchain, and our replacements."""

    cache: Cache
    base: Base
    arch: Architecture
    tools: Toolchain
    jobs: int
    standin: Path

    def make(self, log: Path, *words: str) -> None:
        """Run make in quiet mode; BuildFailed with the first error line."""
        argv = ["make", f"-j{self.jobs}", f"ARCH={self.arch.name}"]
        argv += [f"CROSS_COMPILE={self.tools.cross_compile}", *words]
        command = process.Command(argv, log=log)
        if process.run(command).status:
            raise explain(f"the {self.arch.name} selftests did not build", log, command)


def tests(choice: Choice) -> Tests:
    """The chosen runs as tests of the guest; patterns are names of runs."""
    dialects = {run.name: run.output for run in choice.runs}
    return Tests(
        ("selftests",),
        "check the pattern: quire selftests --list",
        lambda session, kernel: build(session, kernel, choice),
        expand=lambda report, lines: output.expand(report, lines, dialects),
    )


def build(session: Session, kernel: Kernel, choice: Choice) -> Guest:
    """A guest with the chosen programs and the plan of their runs."""
    sources = session.project.guest
    base = kernel.tree.base
    bench = Bench(
        session.cache, base, kernel.arch, kernel.toolchain, session.jobs, sources / STANDIN
    )
    directory = programs(bench, choice)
    plain = guest.build(session.cache, sources, kernel, session.jobs)
    files = {f"{DIRECTORY}/": b""}
    for name in choice.programs:
        files[f"{DIRECTORY}/{name}"] = process.value(b"", (directory / name).read_bytes)
    plan = "".join(f"{run.plan()}\n" for run in choice.runs)
    files[f"{DIRECTORY}/plan"] = plan.encode()
    return guest.with_files(session.cache, plain, files)


def programs(bench: Bench, choice: Choice) -> Path:
    """The directory of the statically linked programs."""
    headers_in = headers(bench)
    ours = guest.source_files(bench.standin)
    key = digest(bench.base.key, bench.tools.version, choice.programs, LOCAL_CONFIG, DEFINES, *ours)

    def make(directory: Path) -> None:
        log = bench.cache.log(f"selftests-{bench.base.key}-{bench.arch.name}")
        for name, text in LOCAL_CONFIG.items():
            process.do((directory / name).write_text, text)
        bench.make(log, "-C", str(bench.standin), f"O={directory}")
        flags = " ".join([f"-I{directory}", f"-I{bench.standin}", *DEFINES])
        words = ["-C", str(bench.base.path / runs.SOURCES), f"-I{directory}"]
        # LOCAL_HDRS is empty: otherwise make requires the header in the source tree.
        words += [f"OUTPUT={directory}", "LOCAL_HDRS=", f"KHDR_INCLUDES=-isystem {headers_in}"]
        words += [f"USERCFLAGS={flags}", f"USERLDFLAGS=-static -s -L{directory}"]
        bench.make(log, *words, *(str(directory / name) for name in choice.programs))

    return bench.cache.make("selftests", f"{bench.arch.name}-{key}", make)


def headers(bench: Bench) -> Path:
    """The base's own user-space headers: those of the host may be older."""
    key = f"{bench.arch.name}-{digest(bench.base.key)}"

    def make(directory: Path) -> None:
        log = bench.cache.log(f"headers-{bench.base.key}-{bench.arch.name}")
        bench.make(log, "-C", str(bench.base.path), f"O={directory}", "headers")
        process.do(_tidy, directory)

    return bench.cache.make("headers", key, make) / "usr/include"


def _tidy(directory: Path) -> None:
    """Keep only usr/: nothing else is needed from here on."""
    for entry in directory.iterdir():
        if entry.is_dir() and entry.name != "usr":
            shutil.rmtree(entry)

# SPDX-License-Identifier: GPL-2.0
"""Compile the kernel's selftests outside its tree, and make them tests of the guest."""

import shutil
from pathlib import Path

from quire.host import process
from quire.host.cache import digest
from quire.kernels import guest
from quire.kernels.guest import Guest
from quire.kernels.kernel import Kernel, compile
from quire.kselftest import output, runs
from quire.kselftest.runs import RunChoice
from quire.session import Session
from quire.suites.suite import Tests

# The guest's directory for the programs and the plan.
DIRECTORY = "selftests"
# The result of check_config.sh, which would write into the source tree. Our kernels have no
# io_uring. 7.3 renamed the header.
LOCAL_CONFIG = {
    "local_config.h": "/* no liburing */\n",
    "local_config.h_gen": "/* no liburing */\n",
    "local_config.mk": "IOURING_EXTRA_LIBS =\n",
}
# 6.12's khugepaged.c uses KSFT_SKIP without including the header that defines it.
DEFINES = ("-DKSFT_SKIP=4",)
# Our replacement, as not every host has it, and none has it for a foreign architecture.
STANDIN = "selftests/standin"


def tests(choice: RunChoice) -> Tests:
    """Return the chosen runs as tests of the guest; patterns are names of runs."""
    dialects = {run.name: run.output for run in choice.runs}
    return Tests(
        ("selftests",),
        "check the pattern: quire selftests --list",
        lambda session, kernel: build(session, kernel, choice),
        expand=lambda report, lines: output.expand(report, lines, dialects),
    )


def build(session: Session, kernel: Kernel, choice: RunChoice) -> Guest:
    """Build a guest with the chosen programs and the plan of their runs."""
    directory = _programs(session, kernel, choice)
    plain = guest.build(session.cache, session.project.guest, kernel, session.jobs)
    files = {f"{DIRECTORY}/": b""}
    for name in choice.programs:
        files[f"{DIRECTORY}/{name}"] = (directory / name).read_bytes()
    plan = "".join(f"{run.plan()}\n" for run in choice.runs)
    files[f"{DIRECTORY}/plan"] = plan.encode()
    return guest.with_files(session.cache, plain, files)


def _programs(session: Session, kernel: Kernel, choice: RunChoice) -> Path:
    """The directory of the statically linked programs."""
    base, tools, standin = kernel.tree.base, kernel.toolchain, session.project.guest / STANDIN
    headers = _headers(session, kernel)
    ours = guest.source_files(standin)
    key = digest(base.key, tools.version, choice.programs, LOCAL_CONFIG, DEFINES, *ours)

    def make(directory: Path) -> None:
        log = session.cache.log(f"selftests-{base.key}-{kernel.arch.name}")
        for name, text in LOCAL_CONFIG.items():
            (directory / name).write_text(text)
        _make(session, kernel, log, "-C", str(standin), f"O={directory}")
        flags = " ".join([f"-I{directory}", f"-I{standin}", *DEFINES])
        words = ["-C", str(base.path / runs.SOURCES), f"-I{directory}"]
        # LOCAL_HDRS is empty: otherwise make requires the header in the source tree.
        words += [f"OUTPUT={directory}", "LOCAL_HDRS=", f"KHDR_INCLUDES=-isystem {headers}"]
        words += [f"USERCFLAGS={flags}", f"USERLDFLAGS=-static -s -L{directory}"]
        words += [str(directory / name) for name in choice.programs]
        _make(session, kernel, log, *words)

    return session.cache.make("selftests", f"{kernel.arch.name}-{key}", make)


def _headers(session: Session, kernel: Kernel) -> Path:
    """Install the base's own user-space headers, as the host's may be older."""
    base = kernel.tree.base
    key = f"{kernel.arch.name}-{digest(base.key)}"

    def make(directory: Path) -> None:
        log = session.cache.log(f"headers-{base.key}-{kernel.arch.name}")
        _make(session, kernel, log, "-C", str(base.path), f"O={directory}", "headers")
        # Nothing but usr/ is needed from here on.
        for entry in directory.iterdir():
            if entry.is_dir() and entry.name != "usr":
                shutil.rmtree(entry)

    return session.cache.make("headers", key, make) / "usr/include"


def _make(session: Session, kernel: Kernel, log: Path, *words: str) -> None:
    """Run make with the kernel's compiler; BuildFailed with the first error line."""
    arch = kernel.arch.kbuild
    argv = ["make", f"-j{session.jobs}", f"ARCH={arch}"]
    command = process.Command(
        [*argv, f"CROSS_COMPILE={kernel.toolchain.cross_compile}", *words], log=log
    )
    compile(command, f"the {arch} selftests did not build")

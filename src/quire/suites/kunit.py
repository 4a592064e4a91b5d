# SPDX-License-Identifier: GPL-2.0
"""Run KUnit tests of the series' helpers, in small kernels without user space.

`lines/6.12/seeded/kunit.patch` adds the suites to a tree; kunit.toml beside it lists the kernels
that run them. A kernel runs its suites at boot, prints KTAP on the console, and exits.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path

from quire.arch import KNOWN, Architecture
from quire.boot import ktap, launch
from quire.boot.ktap import Status
from quire.boot.machine import CHATTY, CONSOLE, Hardware, Machine
from quire.host import data
from quire.host.errors import UserError
from quire.kernels import kernel
from quire.kernels.kernel import Kernel, Request
from quire.session import Session
from quire.source import tree
from quire.source.patch import Patch
from quire.source.side import Sides
from quire.suites import outcome
from quire.suites.outcome import Outcome

PATCH = "kunit.patch"
TABLE = "kunit.toml"
TREES = ("stock", "patched")
# The fragment common to all these kernels.
FRAGMENT = "kunit-boot.config"
# The suites take a few seconds of real time; the rest is margin for a busy host.
TIMEOUT = 600.0
# KUnit's mark in the log; the next line describes the failure.
MARK = "FAILED at "


@dataclass(frozen=True)
class KUnitKernel:
    """One kernel to boot. `tree` is stock or patched; `fragments` are names in configs/, on top of
    allnoconfig and `kunit-boot.config`; all `suites` must pass. So must all `tests` outside KUnit,
    which print "NAME: 5 of 5 tests passed"."""

    name: str
    architecture: str
    tree: str
    fragments: tuple[str, ...]
    suites: tuple[str, ...]
    tests: tuple[str, ...] = ()

    @property
    def arch(self) -> Architecture:
        """Its architecture."""
        return KNOWN[self.architecture]


def _trouble(proof: KUnitKernel) -> str:
    if proof.architecture in KNOWN and proof.tree in TREES:
        return ""
    unknown = f"{proof.architecture}, {proof.tree}"
    return f"kernel {proof.name} has an unknown architecture or tree: {unknown}"


# Read the kernels of a line.
REMEDY = f"architectures: {', '.join(KNOWN)}; trees: {', '.join(TREES)}"
read = data.Table("kernel", KUnitKernel, REMEDY, trouble=_trouble).read


def select(
    proofs: Sequence[KUnitKernel], names: Sequence[str], architectures: Sequence[Architecture]
) -> list[KUnitKernel]:
    """Return the named kernels, or all for these architectures. UserError for an unknown name."""
    unknown = set(names) - {proof.name for proof in proofs}
    if unknown:
        raise UserError(
            f"no such kernel: {', '.join(sorted(unknown))}",
            remedy="see the list: quire kunit --list",
        )
    if names:
        return [proof for proof in proofs if proof.name in names]
    # i386 belongs to x86_64, with the same source.
    sources = {arch.srcarch for arch in architectures}
    return [proof for proof in proofs if proof.arch.srcarch in sources]


def build(session: Session, sides: Sides, proof: KUnitKernel, where: Path) -> Kernel:
    """Build the stock or patched tree with the suites. BuildFailed with the path of the log."""
    before = sides.series.patches if proof.tree == "patched" else ()
    series = replace(sides.series, patches=(*before, Patch(PATCH, where / PATCH)))
    source = tree.patched(session.cache, sides.base, series)
    files = tuple(session.project.configs / name for name in (FRAGMENT, *proof.fragments))
    tools = kernel.toolchain(proof.arch, session.cross_compile, session.llvm)
    request = Request(proof.arch, source, files, tools, session.jobs)
    with session.progress.stage(f"{proof.name} kernel with KUnit", proof.arch.objects):
        return kernel.build(session.cache, request, session.progress.at)


def boot(session: Session, built: Kernel, proof: KUnitKernel) -> Outcome:
    """Boot the kernel and parse its output. GuestLost for a panic, hang or splat."""
    machine = Machine(
        built,
        None,
        (),
        Hardware(memory="1G", lean=True),
        timeout=TIMEOUT,
        loglevel=CHATTY,
        parameters=("printk.time=0", "kunit_shutdown=reboot"),
    )
    work = launch.workdir(session.cache, f"kunit-{proof.name}")
    console = launch.console(machine, session.place, work)
    report = ktap.parse(console.splitlines())
    if report.status is Status.MISSING:
        raise launch.lost(machine, work, "the kernel ended without a report")
    ended = outcome.read(proof.name, built, report, work / CONSOLE)
    return replace(ended, problem=trouble(proof, console))


def trouble(proof: KUnitKernel, console: str) -> str:
    """Return what did not pass, with KUnit's messages; empty if all passed."""
    report = ktap.parse(console.splitlines())
    suites = {test.name: test.outcome for test in report.subtests}
    lines = [
        f"suite {suite}: {suites.get(suite, Status.MISSING)}"
        for suite in proof.suites
        if suites.get(suite) is not Status.PASS
    ]
    for name in proof.tests:
        said = re.search(rf"^{name}: (\d+) of (\d+) tests passed$", console, re.M)
        if not said:
            lines.append(f"test {name}: no result")
        elif said[1] != said[2] or not int(said[2]):
            lines.append(said[0])
    lines += [report.problem] if report.problem else []
    return "\n".join(lines + complaints(console))


def complaints(console: str) -> list[str]:
    """KUnit's message for each failure: the location and the next line."""
    lines = [line.strip(" #") for line in console.splitlines()]
    pairs = pairwise([*lines, ""])
    return [text for line, after in pairs if MARK in line for text in (line, f"  {after}")]

# SPDX-License-Identifier: GPL-2.0
"""Tests in the guest: one boot per kernel, KTAP output, one verdict per case."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from quire.boot import ktap, launch, machine
from quire.boot.ktap import Test
from quire.boot.launch import Ended
from quire.boot.machine import CHATTY, Hardware, Machine
from quire.boot.results import Results
from quire.build.guest import Guest
from quire.build.kernel import Kernel
from quire.host import parallel
from quire.host.cache import digest
from quire.host.errors import Difference, GuestLost, QuireError
from quire.session import Session
from quire.source.side import Sides
from quire.test import expected
from quire.test.expected import Expected

# All suites take some minutes on an idle host, and several times as long on a busy one. The guest
# itself stops a case that hangs; this limit is for a guest that hangs completely.
TIMEOUT = 1800.0
# Memory that can be offlined: one way to make the kernel migrate pages.
MOVABLE = "movablecore=1G"
# Written to the boot's directory when the guest reached its end: the machine that was booted.
FINISHED = "finished"
# A parameter of the kernel: the cases to run, as I/N.
SHARD = "quire_shard"
# The limit for a case in milliseconds, where the default of ten seconds is too short.
PATIENCE = "quire_timeout=180000"


@dataclass(frozen=True)
class BootOptions:
    """With `cpus` above 1 the guest runs without -icount, so that races can happen."""

    cpus: int = 1
    timeout: float = TIMEOUT
    memory: str = "2G"
    # Reuse the results that an earlier run of the same kernel and guest reported.
    resume: bool = False
    # Further kernel parameters.
    parameters: tuple[str, ...] = ()


@dataclass(frozen=True)
class Verdict:
    """One boot's report and the path of its logs."""

    kernel: Kernel
    report: Test
    logs: str

    @property
    def cases(self) -> list[tuple[str, Test]]:
        """Every case with its full name."""
        return [(name.lstrip("."), test) for name, test in self.report.leaves() if name]

    def unexpected(self, known: Sequence[Expected]) -> list[tuple[str, Test]]:
        """The cases that failed and that no line of `known` covers."""
        return [
            (name, test)
            for name, test in self.cases
            if test.failed and not expected.why(known, self.kernel, name)
        ]


@dataclass(frozen=True)
class Job:
    """One boot to run: a kernel and its options."""

    kernel: Kernel
    options: BootOptions


class Boot(Protocol):
    """Boots a kernel and runs cases; run() below does so for the guest's own tests."""

    def __call__(
        self,
        session: Session,
        kernel: Kernel,
        patterns: Sequence[str],
        options: BootOptions,
        seen: Callable[[int], None] | None = None,
        /,
    ) -> Verdict:
        """GuestLost for a panic, hang or splat; the verdict has the failed cases."""


def several(
    session: Session, orders: Sequence[Job], patterns: Sequence[str], boot: Boot | None = None
) -> list[Verdict | GuestLost]:
    """Run the same cases on every kernel; a lost guest is also a result."""
    cases = dict.fromkeys(range(len(orders)), 0)
    done = 0

    def work(number: int) -> Verdict | GuestLost:
        def seen(count: int) -> None:
            cases[number] = count
            session.progress.at(done, f"{sum(cases.values())} cases")

        order = orders[number]
        try:
            return (boot or run)(session, order.kernel, patterns, order.options, seen)
        except GuestLost as lost:
            return lost

    def finished(count: int, *_: object) -> None:
        nonlocal done
        done = count
        session.progress.at(done)

    names = ", ".join(dict.fromkeys(order.kernel.arch.name for order in orders))
    with session.progress.stage(f"{names} tests", len(orders)):
        return parallel.each(range(len(orders)), work, finished, session.place.machines)


def run(
    session: Session,
    kernel: Kernel,
    patterns: Sequence[str],
    options: BootOptions,
    seen: Callable[[int], None] | None = None,
) -> Verdict:
    """Boot and test. GuestLost for a panic, hang or splat; the verdict has the failed cases.

    `seen` periodically gets the number of finished cases. Difference when the guest's exit status
    contradicts its report.
    """
    program = session.guest(kernel)
    machine_ = prepare(
        kernel, program, ("test", *patterns), options, (MOVABLE, *machine.nodes(kernel))
    )
    outcome, work = run_machine(session, machine_, seen, resume=options.resume)
    report = ktap.parse(outcome.other)
    check(outcome, report, work, "check the pattern: quire test --list")
    return Verdict(kernel, report, str(work))


def prepare(
    kernel: Kernel,
    program: Guest,
    words: tuple[str, ...],
    options: BootOptions,
    parameters: tuple[str, ...] = (),
) -> Machine:
    """The machine for a test boot."""
    return Machine(
        kernel,
        program,
        words,
        Hardware(options.cpus, options.memory, icount=options.cpus == 1, lean=True),
        timeout=options.timeout,
        loglevel=CHATTY,
        parameters=(*parameters, *patience(kernel, options), *options.parameters),
    )


def run_machine(
    session: Session,
    boot: Machine,
    seen: Callable[[int], None] | None,
    *,
    resume: bool = False,
) -> tuple[Results, Path]:
    """Boot in a separate directory; return the guest's report and the path of the logs.

    With `resume`, reuse an earlier boot of the same machine if that reached its end.
    """
    name = _name(boot)
    work, mark = (
        session.cache.root / "boot" / name,
        digest(boot.guest and boot.guest.sha256, boot.argv(Path())),
    )
    finished = work / FINISHED
    if resume and finished.is_file() and finished.read_text() == mark:
        return launch.judge(boot, work, Ended()), work
    # Beside another quire process, this is not the directory above.
    work = launch.workdir(session.cache, name)

    def tick() -> None:
        if seen:
            seen(ktap.results(work / machine.RESULTS))

    outcome = launch.boot(boot, session.place, work, tick)
    (work / FINISHED).write_text(mark)
    return outcome, work


def check(outcome: Results, report: Test, work: Path, remedy: str) -> None:
    """Difference when no test ran, or the guest's exit status contradicts its report."""
    if report.status == "missing":
        raise Difference(
            "the guest reported no tests",
            "\n".join([*outcome.notes, *outcome.other[:5], f"whole log: {work}"]),
            remedy,
        )
    if (outcome.exit == 0) == report.failed:
        raise Difference(
            f"exit status {outcome.exit} contradicts the report",
            f"{report.problem or 'see the log'}\nwhole log: {work}",
            "read the log; a result is missing",
        )


def patience(kernel: Kernel, options: BootOptions) -> tuple[str, ...]:
    """Without -icount the guest runs in real time, and a debug kernel is slow: allow more time."""
    return (PATIENCE,) if options.cpus > 1 or kernel.enables("CONFIG_DEBUG_VM") else ()


def listing(session: Session, kernel: Kernel) -> list[str]:
    """The guest's own list of its tests."""
    program = session.guest(kernel)
    work = launch.workdir(session.cache, f"list-{kernel.arch.name}")
    boot = Machine(kernel, program, ("list",), timeout=120)
    return launch.boot(boot, session.place, work).other


def complete(results: Sequence[Verdict | GuestLost]) -> list[Verdict]:
    """The verdicts; raises the first lost guest."""
    for result in results:
        if isinstance(result, GuestLost):
            raise result
    return [result for result in results if isinstance(result, Verdict)]


def inherited(verdicts: Sequence[Verdict], sides: Sides) -> list[Expected]:
    """Expected failures for two sides without a list: A may fail the cases that it fails, and B may
    fail these, too, on the same architecture."""
    a, b = sides.a.label, sides.b.label
    found = []
    for verdict in verdicts:
        if verdict.kernel.tree.label == a:
            arch = (verdict.kernel.arch.name,)
            cases = tuple(name for name, test in verdict.cases if test.failed)
            found.append(Expected(a, arch, cases, f"{a}'s own failure"))
            found.append(Expected(b, arch, cases, f"fails on {a}, too"))
    return found


def failures(verdicts: Sequence[Verdict], known: Sequence[Expected] = ()) -> QuireError | None:
    """One error for all unexpected failures; None if there are none."""
    lines = []
    for verdict in verdicts:
        kernel = verdict.kernel
        unknown = verdict.unexpected(known)
        for name, test in unknown:
            lines.append(f"{kernel.arch.name} {kernel.tree.label}: {name} {test.problem}")
            lines += [f"| {text}" for text in test.diagnostics[-8:]]
        if unknown or (verdict.report.failed and not any(t.failed for _, t in verdict.cases)):
            lines.append(f"whole log: {verdict.logs}")
    if not lines:
        return None
    return Difference("tests failed", "\n".join(lines), "read the log, then the patch")


def _name(boot: Machine) -> str:
    """Different tests and kernels may run at the same time."""
    kernel = boot.kernel
    key = digest(kernel.image_sha256, boot.append())
    return f"{boot.init[0]}-{kernel.arch.name}-{kernel.tree.label}-smp{boot.hardware.cpus}-{key}"

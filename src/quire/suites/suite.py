# SPDX-License-Identifier: GPL-2.0
"""Run tests in the guest: one boot per kernel, KTAP output, one status per case."""

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from quire.boot import ktap, launch, machine, start
from quire.boot.ktap import Status, Test
from quire.boot.launch import Ended
from quire.boot.machine import CHATTY, Counting, Disk, Hardware, Machine
from quire.boot.results import Results
from quire.host import parallel
from quire.host.cache import digest
from quire.host.errors import Difference, GuestLost
from quire.kernels import user
from quire.kernels.guest import Guest
from quire.kernels.kernel import Kernel
from quire.session import Session
from quire.suites import expected, outcome
from quire.suites.outcome import Outcome

# All suites take a few minutes on an idle host, and several times longer on a busy one. The guest
# itself stops a hanging case; this limit is for a guest that hangs completely.
TIMEOUT = 1800.0
# Memory that can be offlined: one way to make the kernel migrate pages.
MOVABLE = "movablecore=1G"
# A file in the boot's directory, written when the guest finishes: the machine that was booted.
FINISHED = "finished"
# A kernel parameter: the cases to run, as I/N.
SHARD = "quire_shard"
# The folio sizes in the names of cases, in KiB, with 4 KiB pages.
SIZES = (4, 16, 64, 256, 1024, 2048)
# The time limit for a case in milliseconds where the default of ten seconds is too short: in real
# time (without -icount or an emulator), on slow debug kernels, and with large pages.
PATIENCE = "quire_timeout=180000"


QUOTES = '"'
# In the guest's sources: a macro that defines cases by others, and its use.
_MACRO = re.compile(r"^#define (\w*CASES?)\(([\w, ]+?)(?:, \.\.\.)?\)((?:.*\\\n)*.*)", re.M)
_CASE = re.compile(r"\b(\w*CASES?(?:_\w+)?)\(([^()]*)")


def listing(tests: Path) -> list[str]:
    """List the cases in the guest's sources, "suite.case" or "suite.case @tag", sorted."""
    files = [path for path in sorted(tests.rglob("*")) if path.suffix in (".c", ".h")]
    texts = [path.read_text() for path in files]
    macros = {
        name: ([word.strip() for word in words.split(",")], body)
        for text in texts
        for name, words, body in _MACRO.findall(text)
    }
    plain = (_MACRO.sub("", text) for text in texts)
    found = [case for text in plain for use in _CASE.findall(text) for case in _cases(macros, *use)]
    return sorted(set(found))


def _cases(macros: Mapping[str, tuple[list[str], str]], name: str, text: str) -> Iterator[str]:
    """The cases that a macro use defines. Hidden cases run only in the self-test."""
    words = [word.strip() for word in text.split(",")]
    if name in macros:
        parameters, body = macros[name]
        for old, new in zip(parameters, words, strict=False):
            body = re.sub(rf"\b{old}\b", new, body)
        body = body.replace("##", "")
        for use in _CASE.findall(body):
            yield from _cases(macros, *use)
    elif name.startswith("QUIRE_CASE") and "HIDDEN" not in name and len(words) > 1:
        tags = [words[2]] if name.endswith("TAGGED") else re.findall(r"\.tag = (\w+)", text)
        yield " ".join(
            [f"{words[0]}.{words[1]}", *(f"@{tag.lower().strip(QUOTES)}" for tag in tags)]
        )


def of_sizes(sizes: Collection[int]) -> str:
    """Return the kernel parameter that selects folio sizes, in KiB."""
    others = ",".join(str(size) for size in SIZES if size not in sizes)
    return f"quire_without_sizes={others}"


def spared(session: Session, kernel: Kernel, patterns: Sequence[str]) -> tuple[str, ...]:
    """Return the kernel parameter that leaves out cases which can damage this kernel, as it lacks
    their fix. Cases named in full still run."""
    known = expected.read(session.line(kernel.tree.base).file("expected"))
    harmful = [case for entry in known if entry.harms(kernel) for case in entry.cases]
    names = dict.fromkeys(case for case in harmful if case not in patterns)
    return (f"quire_without={','.join(names)}",) if names else ()


@dataclass(frozen=True)
class BootOptions:
    """With `cpus` above 1, the guest runs without -icount, so that races can happen, unless the
    plugin counts."""

    cpus: int = 1
    timeout: float = TIMEOUT
    memory: str = "2G"
    # Reuse results of the same kernel and guest from an earlier run.
    resume: bool = False
    # Further kernel parameters.
    parameters: tuple[str, ...] = ()
    # What the plugin counts; with quire_count=on, the guest counts everything that it does.
    counting: Counting | None = None
    disk: Disk | None = None


@dataclass(frozen=True)
class Tests:
    """A program in the guest: init's words before the patterns, and other differences."""

    words: tuple[str, ...]
    # The remedy if the guest reports no tests.
    remedy: str
    guest: Callable[[Session, Kernel], Guest] = Session.guest
    parameters: Callable[[Kernel], tuple[str, ...]] = machine.nodes
    # Parses cases that the guest does not report as KTAP from its lines.
    expand: Callable[[Test, Sequence[str]], None] = lambda *_: None


OURS = Tests(
    ("test",),
    "check the pattern: quire test --list",
    parameters=lambda kernel: (MOVABLE, *machine.nodes(kernel)),
)


def of_program(source: Path) -> Tests:
    """Return a user's own KTAP test; patterns are its arguments."""
    words = ("program", "test", user.path(source))
    remedy = "a test prints KTAP on stdout: guest/README.md"
    return Tests(words, remedy, parameters=lambda _: ())


@dataclass(frozen=True)
class Job:
    """One boot to run: a kernel and its options. `flavour` is the last part of the name."""

    kernel: Kernel
    options: BootOptions
    flavour: str = ""

    @property
    def name(self) -> str:
        """The name in tables, reports and file names."""
        words = (self.kernel.arch.label, self.kernel.tree.label, self.flavour)
        return "-".join(filter(None, words))


def several(
    session: Session, jobs: Sequence[Job], patterns: Sequence[str], tests: Tests = OURS
) -> list[Outcome]:
    """Run the same cases on every kernel; a lost guest is an outcome, too."""
    cases = dict.fromkeys(range(len(jobs)), 0)
    done = 0

    def work(number: int) -> Outcome:
        def seen(results: Path) -> None:
            cases[number] = ktap.results(results)
            session.progress.at(done, f"{sum(cases.values())} cases")

        job = jobs[number]
        try:
            return run(session, job, patterns, tests, seen)
        except GuestLost as lost:
            return Outcome(job.name, job.kernel, lost=lost)

    def finished(count: int, *_: object) -> None:
        nonlocal done
        done = count
        session.progress.at(done)

    names = ", ".join(dict.fromkeys(job.kernel.arch.name for job in jobs))
    with session.progress.stage(f"{names} tests", len(jobs)):
        return parallel.side_by_side(range(len(jobs)), work, finished, session.place.machines)


def run(
    session: Session,
    job: Job,
    patterns: Sequence[str],
    tests: Tests = OURS,
    seen: Callable[[Path], None] | None = None,
) -> Outcome:
    """Boot and test. GuestLost for a panic, hang or splat; the outcome has the failed cases.

    `seen` periodically gets the guest's results so far. Difference when its exit status contradicts
    its report.
    """
    kernel, options = job.kernel, job.options
    # A disk answers in real time, and programs measure how long they run.
    repeats = (options.cpus == 1 or options.counting is not None) and not options.disk
    real = not repeats or not kernel.arch.qemu
    patient = real or kernel.arch.slow or kernel.enables("CONFIG_DEBUG_VM")
    boot = Machine(
        kernel,
        tests.guest(session, kernel),
        (*tests.words, *patterns),
        Hardware(options.cpus, kernel.arch.memory or options.memory, icount=repeats, lean=True),
        options.counting,
        timeout=options.timeout,
        loglevel=CHATTY,
        parameters=(
            *tests.parameters(kernel),
            *((PATIENCE,) if patient else ()),
            *(spared(session, kernel, patterns) if tests is OURS else ()),
            *options.parameters,
        ),
        disk=options.disk,
    )
    results, work = _boot(session, boot, seen, resume=options.resume)
    report = ktap.parse(results.other)
    _check(results, report, work, tests.remedy)
    tests.expand(report, results.other)
    return outcome.read(job.name, kernel, report, work, options.cpus)


def _boot(
    session: Session, boot: Machine, seen: Callable[[Path], None] | None, *, resume: bool
) -> tuple[Results, Path]:
    """Boot in a separate directory: the guest's results, and the path of the logs.

    With `resume`, reuse an earlier boot of the same machine if that reached its end.
    """
    mark = digest(boot.guest and boot.guest.sha256, start.argv(boot, Path()))
    if resume:
        # If another quire process uses the directory, append a number to the name.
        for finished in (session.cache.root / "boot").glob(f"{_directory(boot)}*/{FINISHED}"):
            if finished.read_text() == mark:
                return launch.judge(boot, finished.parent, Ended()), finished.parent
    work = launch.workdir(session.cache, _directory(boot))

    def tick() -> None:
        if seen:
            seen(work / machine.RESULTS)

    results = launch.boot(boot, session.place, work, tick)
    (work / FINISHED).write_text(mark)
    return results, work


def _check(results: Results, report: Test, work: Path, remedy: str) -> None:
    """Difference when no test ran, or the guest's exit status contradicts its report."""
    if report.status is Status.MISSING:
        raise Difference(
            "the guest reported no tests",
            "\n".join([*results.notes, *results.other[:5], f"whole log: {work}"]),
            remedy,
        )
    if (results.exit == 0) == report.failed:
        raise Difference(
            f"exit status {results.exit} contradicts the report",
            "\n".join([report.problem or "see the log", *results.notes, f"whole log: {work}"]),
            "read the log for the missing result",
        )


def _directory(boot: Machine) -> str:
    """The name of a boot's directory, unique among concurrent tests and kernels."""
    kernel = boot.kernel
    key = digest(kernel.image_sha256, boot.append())
    return f"{boot.init[0]}-{kernel.arch.name}-{kernel.tree.label}-smp{boot.hardware.cpus}-{key}"

# SPDX-License-Identifier: GPL-2.0
"""Child processes: each has its own process group, is logged, and ends when quire ends."""

from __future__ import annotations

import contextlib
import os
import shlex
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, ParamSpec, TypeVar

from quire.host.errors import BuildFailed, QuireError, UserError

# Seconds between SIGINT and SIGKILL, for cleanup (make deletes incomplete targets).
GRACE_SECONDS = 5.0

# make and kbuild would read these from the environment; only the command line may set them.
_BUILD_VARIABLES = frozenset(
    "MAKEFLAGS MFLAGS MAKELEVEL MAKEOVERRIDES MAKEFILES ARCH SRCARCH CROSS_COMPILE O CC HOSTCC "
    "CFLAGS CPPFLAGS LDFLAGS KCFLAGS KCPPFLAGS KAFLAGS LLVM LLVM_IAS W C V LOCALVERSION".split()
)

_BUILD_PREFIXES = ("KBUILD_", "KCONFIG_", "CCACHE_")

Arguments = ParamSpec("Arguments")
Value = TypeVar("Value")

_groups: set[int] = set()
_groups_lock = threading.Lock()
# Set by kill_all: while quire exits, a worker thread must not start another child.
_leaving = threading.Event()


@dataclass(frozen=True)
class Settings:
    """Settings shared by all commands of one quire process."""

    dry_run: bool = False
    verbose: bool = False


@dataclass(frozen=True)
class Command:
    """One program to run. `env` is added to ours; `log` gets its stdout and stderr."""

    argv: Sequence[str]
    cwd: Path | None = None
    env: Mapping[str, str] = field(default_factory=dict)
    log: Path | None = None
    # Receives stdout and stderr in place of a log, without the command line.
    output: Path | None = None
    # Seconds after which the group is killed and TimedOut raised; None means no limit.
    timeout: float | None = None

    def text(self) -> str:
        """The command as a shell line, ready to paste."""
        words = [f"{k}={shlex.quote(v)}" for k, v in self.env.items()]
        line = " ".join([*words, shlex.join(self.argv)])
        return f"(cd {shlex.quote(str(self.cwd))} && {line})" if self.cwd else line


@dataclass(frozen=True)
class Finished:
    """How a command ended: exit status (negative = signal), and its output if not logged."""

    status: int
    output: str


class NotRun(Exception):
    """Under --dry-run: the next step reads what a printed command would have made."""


class TimedOut(Exception):
    """The command ran past its timeout and was killed."""


class OutOfTime(Exception):
    """The time that until() gives is over; the children were stopped."""


_settings = Settings()
# When the time of the innermost until() is over, on the monotonic clock.
_deadline = float("inf")


def configure(settings: Settings) -> None:
    """Set the process-wide settings; called once, by the command line."""
    global _settings  # noqa: PLW0603 -- one process, one answer to --dry-run
    _settings = settings
    _leaving.clear()


@contextlib.contextmanager
def until(deadline: float) -> Iterator[None]:
    """Stop children that run past this time of the monotonic clock, and start none: OutOfTime.

    Within another until(), the earlier one counts.
    """
    global _deadline  # noqa: PLW0603 -- of all threads, as the children are
    before, _deadline = _deadline, min(_deadline, deadline)
    try:
        yield
    except OutOfTime:
        go_on()
        raise
    finally:
        _deadline = before


def in_time() -> None:
    """OutOfTime if the time of until() is over."""
    if time.monotonic() > _deadline:
        raise OutOfTime


def dry_run() -> bool:
    """Whether commands are only printed."""
    return _settings.dry_run


def needs_results(why: str = "") -> None:
    """What follows reads what commands have made: raises NotRun under --dry-run.

    `why` is printed after the commands unless it is empty.
    """
    if _settings.dry_run:
        raise NotRun(why)


def do(effect: Callable[Arguments, object], *args: Arguments.args, **kw: Arguments.kwargs) -> None:
    """Call what changes files, or checks what commands have made; not under --dry-run."""
    if not _settings.dry_run:
        effect(*args, **kw)


def value(unknown: Value, source: Callable[[], Value]) -> Value:
    """What `source` reads from the result of a command; `unknown` under --dry-run."""
    return unknown if _settings.dry_run else source()


def plan(command: Command) -> None:
    """Under --dry-run, print a command whose effect quire has by other means."""
    if _settings.dry_run:
        _announce(command)


def run(command: Command, tick: Callable[[], None] | None = None) -> Finished:
    """Run to the end, whatever the status. `tick` is called about five times a second.

    UserError when the program does not exist, TimedOut past the timeout.
    Under --dry-run nothing is run and the status is 0.
    """
    _announce(command)
    return Finished(0, "") if _settings.dry_run else _run(command, tick)


def interact(command: Command) -> int:
    """Run on our terminal, in our process group; the exit status."""
    _announce(command)
    return value(0, lambda: subprocess.call(list(command.argv)))


def query(*argv: str, cwd: Path | None = None, env: Mapping[str, str] | None = None) -> Finished:
    """Run something that only looks; also under --dry-run, where it is not announced."""
    command = Command(argv, cwd=cwd, env=env or {})
    if not _settings.dry_run:
        _announce(command)
    return _run(command, None)


def check(
    command: Command,
    what: str = "",
    remedy: str = "read the lines above, or run the command by hand",
    kind: type[QuireError] = BuildFailed,
) -> str:
    """Run and return the output. On failure, an error with the command and its last lines."""
    finished = run(command)
    if finished.status:
        text = finished.output or (tail(command.log) if command.log else "")
        where = f"{command.text()}\n{text.strip()[-1500:]}"
        where += f"\nwhole log: {command.log}" if command.log else ""
        raise kind(what or f"{command.argv[0]} ended with status {finished.status}", where, remedy)
    return finished.output


def pipeline(script: str, *words: object) -> Command:
    """A script of bash, with `words` as $1 and so on, that fails if any command in a pipe does."""
    return Command(["bash", "-o", "pipefail", "-c", script, "pipeline", *map(str, words)])


def tail(path: Path, lines: int = 20) -> str:
    """The last lines of a log, or an empty string if the log does not exist."""
    text = path.read_text(errors="replace") if path.is_file() else ""
    return "\n".join(text.splitlines()[-lines:])


def spawn(
    command: Command, stdout: IO[bytes] | int, stdin: int = subprocess.DEVNULL
) -> subprocess.Popen[bytes]:
    """Start a child in its own process group and register it for kill_all()."""
    with _groups_lock:
        if _leaving.is_set():
            raise KeyboardInterrupt
        in_time()
        try:
            child = subprocess.Popen(
                list(command.argv),
                cwd=command.cwd,
                env={**_environment(), **command.env},
                stdin=stdin,
                stdout=stdout,
                stderr=subprocess.STDOUT,
                process_group=0,
            )
        except FileNotFoundError as error:
            what = f"{command.argv[0]} is not installed"
            raise UserError(what, command.text(), "quire doctor") from error
        _groups.add(child.pid)
    return child


def stop(child: subprocess.Popen[bytes], grace: float = GRACE_SECONDS) -> None:
    """Stop a child and its process group: SIGINT first, SIGKILL after `grace` seconds."""
    if grace:
        _signal(child.pid, signal.SIGINT)
        with contextlib.suppress(subprocess.TimeoutExpired):
            child.wait(grace)
    _signal(child.pid, signal.SIGKILL)
    child.wait()


def forget(child: subprocess.Popen[bytes]) -> None:
    """Unregister a child after wait(): its PID may be reused."""
    with _groups_lock:
        _groups.discard(child.pid)


def kill_all() -> None:
    """Stop all registered process groups. Called whenever quire exits."""
    with _groups_lock:
        _leaving.set()
        groups = list(_groups)
    for group in groups:
        _signal(group, signal.SIGINT)
    deadline = time.monotonic() + GRACE_SECONDS
    while time.monotonic() < deadline and any(_signal(group, 0) for group in groups):
        time.sleep(0.05)
    for group in groups:
        _signal(group, signal.SIGKILL)


def go_on() -> None:
    """Let children start again: the error for which kill_all() was called has been handled."""
    _leaving.clear()


def die_with_us(argv: Sequence[str]) -> list[str]:
    """Wrap the command so that the kernel kills it if quire is killed."""
    return ["setpriv", "--pdeathsig", "KILL", *argv]


def _announce(command: Command) -> None:
    """Print the exact command: on stdout under --dry-run, on stderr under -v."""
    if _settings.dry_run:
        print(command.text(), flush=True)
    elif _settings.verbose:
        print(f"+ {command.text()}", file=sys.stderr, flush=True)


def _environment() -> dict[str, str]:
    """Our environment without variables that change a build, and with untranslated messages."""
    kept = {
        name: value
        for name, value in os.environ.items()
        if name not in _BUILD_VARIABLES and not name.startswith(_BUILD_PREFIXES)
    }
    return {**kept, "LC_ALL": "C"}


def _signal(group: int, number: int) -> bool:
    """Whether there was a process. A zombie that its parent has not reaped yet counts as one."""
    try:
        os.killpg(group, number)
    except (ProcessLookupError, PermissionError):
        return False
    return True


def _run(command: Command, tick: Callable[[], None] | None) -> Finished:
    with _output(command) as file:
        child = spawn(command, file)
        try:
            status = _wait(child, command.timeout, tick)
        except TimedOut:
            # The timeout is over, and the child has nothing worth cleaning up: no grace.
            stop(child, grace=0)
            raise
        except BaseException:
            stop(child)
            raise
        finally:
            forget(child)
        if command.output or command.log:
            return Finished(status, "")
        file.seek(0)
        return Finished(status, file.read().decode(errors="replace"))


def _wait(
    child: subprocess.Popen[bytes], timeout: float | None, tick: Callable[[], None] | None
) -> int:
    started = time.monotonic()
    while True:
        try:
            return child.wait(0.2)
        except subprocess.TimeoutExpired:
            if tick:
                tick()
            in_time()
            if timeout is not None and time.monotonic() - started > timeout:
                raise TimedOut(f"{child.args!r}") from None


def _output(command: Command) -> IO[bytes]:
    if command.output:
        return command.output.open("wb")
    if command.log:
        command.log.parent.mkdir(parents=True, exist_ok=True)
        log = command.log.open("ab")
        log.write(f"$ {command.text()}\n".encode())
        log.flush()
        return log
    # A temporary file rather than a pipe: a pipe would have to be drained during the wait.
    return tempfile.TemporaryFile()

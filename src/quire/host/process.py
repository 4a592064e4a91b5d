# SPDX-License-Identifier: GPL-2.0
"""Child processes: each has its own process group, is logged, and ends when quire ends."""

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
from typing import IO

from quire.host.errors import BuildFailed, QuireError, UserError

# Seconds between SIGINT and SIGKILL, for cleanup (make deletes incomplete targets).
GRACE_SECONDS = 5.0

# make and kbuild would read these from the environment; only the command line may set them.
_BUILD_VARIABLES = frozenset(
    "MAKEFLAGS MFLAGS MAKELEVEL MAKEOVERRIDES MAKEFILES ARCH SRCARCH CROSS_COMPILE O CC HOSTCC "
    "CFLAGS CPPFLAGS LDFLAGS KCFLAGS KCPPFLAGS KAFLAGS LLVM LLVM_IAS W C V LOCALVERSION".split()
)

_BUILD_PREFIXES = ("KBUILD_", "KCONFIG_", "CCACHE_")

_groups: set[int] = set()
_groups_lock = threading.Lock()
# Set by kill_all: while quire exits, a worker thread must not start another child.
_leaving = threading.Event()


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
        """Return the command as a shell line, ready to paste."""
        words = [f"{k}={shlex.quote(v)}" for k, v in self.env.items()]
        line = " ".join([*words, shlex.join(self.argv)])
        return f"(cd {shlex.quote(str(self.cwd))} && {line})" if self.cwd else line


@dataclass(frozen=True)
class Finished:
    """How a command ended: exit status (negative = signal), and its output if not logged."""

    status: int
    output: str


class TimedOut(Exception):
    """The command ran past its timeout and was killed."""


class OutOfTime(Exception):
    """The time limit of until() has expired; the children were stopped."""


# Whether each command is printed.
_verbose = False
# When the innermost until() expires, on the monotonic clock.
_deadline = float("inf")


def configure(*, verbose: bool = False) -> None:
    """Set options that all commands share; called once, by the command line."""
    global _verbose  # noqa: PLW0603 -- one process, one -v
    _verbose = verbose
    _leaving.clear()


@contextlib.contextmanager
def until(deadline: float) -> Iterator[None]:
    """Stop children that run past this time of the monotonic clock, and start none: OutOfTime.

    If nested, the earlier limit counts.
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
    """Raise OutOfTime if until() has expired."""
    if time.monotonic() > _deadline:
        raise OutOfTime


def run(command: Command, tick: Callable[[], None] | None = None) -> Finished:
    """Run to completion, whatever the status. `tick` is called about five times a second.

    UserError when the program does not exist, TimedOut past the timeout.
    """
    _announce(command)
    with _output(command) as file:
        child = spawn(command, file)
        try:
            status = _wait(child, command.timeout, tick)
        except TimedOut:
            # No grace after a timeout: the child has nothing worth cleaning up.
            stop(child, grace=0)
            raise
        except BaseException:
            stop(child)
            raise
        finally:
            # Its PID may be reused.
            with _groups_lock:
                _groups.discard(child.pid)
        if command.output or command.log:
            return Finished(status, "")
        file.seek(0)
        return Finished(status, file.read().decode(errors="replace"))


def interact(command: Command) -> int:
    """Run on our terminal, in our process group; return the exit status."""
    _announce(command)
    return subprocess.call(list(command.argv))


def query(*argv: str, cwd: Path | None = None) -> Finished:
    """Run a command that changes nothing."""
    return run(Command(argv, cwd=cwd))


def first_line(*argv: str) -> str:
    """Return the first line of a command's output, such as a compiler's --version."""
    return query(*argv).output.partition("\n")[0]


def check(
    command: Command,
    what: str = "",
    remedy: str = "see the lines above, or run the command by hand",
    kind: type[QuireError] = BuildFailed,
) -> str:
    """Run and return the output. On failure, raise an error with the command and its last lines."""
    finished = run(command)
    if finished.status:
        text = finished.output or (tail(command.log) if command.log else "")
        where = f"{command.text()}\n{text.strip()[-1500:]}"
        where += f"\nwhole log: {command.log}" if command.log else ""
        raise kind(what or f"{command.argv[0]} ended with status {finished.status}", where, remedy)
    return finished.output


def pipeline(script: str, *words: object) -> Command:
    """Return a bash script, with `words` as $1 etc., that fails if any part of a pipe fails."""
    return Command(["bash", "-o", "pipefail", "-c", script, "pipeline", *map(str, words)])


def tail(path: Path, lines: int = 20) -> str:
    """Return the last lines of a log, or an empty string if the log does not exist."""
    text = path.read_text(errors="replace") if path.is_file() else ""
    return "\n".join(text.splitlines()[-lines:])


def spawn(command: Command, stdout: IO[bytes]) -> subprocess.Popen[bytes]:
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
                stdin=subprocess.DEVNULL,
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
    """Print the exact command on stderr under -v."""
    if _verbose:
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
    """Whether the process existed. A zombie that was not reaped yet counts."""
    try:
        os.killpg(group, number)
    except (ProcessLookupError, PermissionError):
        return False
    return True


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

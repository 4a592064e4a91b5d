# SPDX-License-Identifier: GPL-2.0
"""A machine: one QEMU boot of a kernel with a guest, its logs and its verdict."""

from __future__ import annotations

import itertools
import re
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from quire.boot import place, results, splat
from quire.boot.counter import Plugin, symbols
from quire.boot.results import Results
from quire.build.guest import Guest
from quire.build.kernel import Kernel
from quire.host import process
from quire.host.cache import Cache
from quire.host.errors import GuestLost

CONSOLE, RESULTS, COUNTS, COMMAND = "console.log", "results.txt", "counts.txt", "command"
# The plugin's stream of stops, and the files of names that it reads.
STOPS, WATCH, LOCKS = "stops.txt", "watch.txt", "locks.txt"
# Always print warnings and worse messages; a stack dump has level "warning".
QUIET = 5
CHATTY = 7
# Split the memory into two nodes where possible: some programs migrate pages between nodes.
NODES = ("numa=fake=2",)
EMULATES_NODES = "CONFIG_NUMA_EMU"


@dataclass(frozen=True)
class Machine:
    """What to boot and how. With a plugin: one CPU under -icount, so that counts are repeatable."""

    kernel: Kernel
    guest: Guest
    init: tuple[str, ...]
    plugin: Plugin | None = None
    cpus: int = 1
    memory: str = "2G"
    # Wall-clock seconds; after these the guest counts as hung.
    timeout: float = 300.0
    loglevel: int = QUIET
    # One CPU under -icount even without a plugin; a test of races turns it off.
    icount: bool = True
    # Further kernel parameters.
    parameters: tuple[str, ...] = ()
    # Stretches that the plugin counts separately: name:begin symbol:end symbol.
    spans: tuple[str, ...] = ()
    # Lock functions, whose direct calls the plugin counts by caller.
    locks: tuple[str, ...] = ()
    # The plugin writes what each run of a region costs to STOPS; with `detail`, also by symbol.
    stream: bool = False
    detail: bool = False
    # Functions whose calls each line of the stream gives.
    watch: tuple[str, ...] = ()
    # The plugin counts cache lines and page-table words, too, which makes it slow.
    lines: bool = False
    # The symbols to count by, instead of the kernel's functions.
    symbols: Path | None = None
    # Without features that are slow to emulate: its counts are not comparable with other runs'.
    lean: bool = False
    # QEMU's arguments for a CPU in place of the emulator.
    accelerator: tuple[str, ...] = ()
    # After so many seconds without output the guest hangs: place.Silent. 0: only past the timeout.
    silence: float = 0.0

    def append(self) -> str:
        """The kernel's command line. Words after `--` go to init."""
        arch = self.kernel.arch
        words = [f"console={arch.console}", arch.append]
        words += [arch.append_icount] if self.icount else []
        words += ["panic=-1", "nokaslr", "norandmaps", f"loglevel={self.loglevel}"]
        # The guest tells the plugin which frames are page tables.
        words += ["quire_lines=on"] if self.lines else []
        words += self.parameters
        return " ".join(word for word in [*words, "--", *self.init] if word)

    def argv(self, directory: Path, *, terminal: bool = False) -> list[str]:
        """QEMU's command line; logs and results go to `directory`, or to our terminal."""
        arch = self.kernel.arch
        argv = [arch.qemu, *arch.machine_args, *(arch.lean_args if self.lean else ())]
        argv += self.accelerator
        argv += ["-m", self.memory, "-smp", str(self.cpus)]
        if self.icount:
            # One instruction takes one nanosecond, and an idle CPU skips to the next timer.
            argv += ["-icount", "shift=0,sleep=off", "-rtc", "base=2024-11-17,clock=vm"]
        argv += ["-seed", "1", "-nodefaults", "-no-user-config", "-display", "none", "-no-reboot"]
        argv += ["-kernel", str(self.kernel.image), "-initrd", str(self.guest.initrd)]
        argv += ["-append", self.append()]
        argv += ["-serial", "mon:stdio" if terminal else f"file:{directory / CONSOLE}"]
        # Without a port for results the guest writes them to the console.
        if not terminal:
            argv += ["-device", "virtio-serial-device"]
            argv += ["-chardev", f"file,id=q,path={directory / RESULTS}"]
            argv += ["-device", "virtserialport,chardev=q,name=quire"]
        if self.plugin:
            argv += ["-plugin", ",".join([str(self.plugin.path), *self._arguments(directory)])]
        return argv

    def _arguments(self, directory: Path) -> list[str]:
        """The plugin's arguments."""
        words = [f"symbols={self.symbols or symbols(self.kernel)}", f"out={directory / COUNTS}"]
        words += [f"span={span}" for span in self.spans]
        words += [f"stream={directory / STOPS}"] if self.stream else []
        words += [f"{name}={directory / file}" for name, file, _ in self._names()]
        words += [f"{name}=on" for name in ("detail", "lines") if getattr(self, name)]
        return words

    def _names(self) -> list[tuple[str, str, tuple[str, ...]]]:
        """The plugin's arguments that are files of names: argument, file and names."""
        files = [("watch", WATCH, self.watch), ("locks", LOCKS, self.locks)]
        return [(argument, file, names) for argument, file, names in files if names]

    def outputs(self, directory: Path) -> list[Path]:
        """What the guest writes while it runs."""
        return [directory / RESULTS, directory / CONSOLE]

    def inputs(self, directory: Path) -> list[Path]:
        """The files that QEMU and the plugin read."""
        files = [self.kernel.image, self.guest.initrd]
        if self.plugin:
            files += [self.plugin.path, self.symbols or symbols(self.kernel)]
        return files + [directory / file for _, file, _ in self._names()]

    def lay_out(self, directory: Path) -> None:
        """Write the files that the plugin reads."""
        for _, file, names in self._names():
            process.do((directory / file).write_text, "".join(f"{name}\n" for name in names))


def nodes(kernel: Kernel) -> tuple[str, ...]:
    """The parameter that splits the memory, if this kernel supports it."""
    return NODES if kernel.enables(EMULATES_NODES) else ()


def boot(machine: Machine, directory: Path, tick: Callable[[], None] | None = None) -> Results:
    """Run the machine to its end in `directory`, which receives console, results and counts.

    `tick` is called periodically while it runs.
    GuestLost when it panics, hangs, prints a splat or ends without its `exit` line. The caller
    checks what the guest itself reports (failed verification, exit status).
    """
    text = process.Command(process.die_with_us(machine.argv(directory))).text()
    machine.lay_out(directory)
    process.do((directory / COMMAND).write_text, text + "\n")
    ended = place.current().run(machine, directory, tick)
    process.needs_results()
    return judge(machine, directory, hung=ended.hung, status=ended.status)


def interact(machine: Machine, directory: Path) -> int:
    """Run the machine with its console on our terminal; return QEMU's exit status.

    The child stays in our process group: only then it can read from the terminal.
    """
    argv = process.die_with_us(machine.argv(directory, terminal=True))
    return process.interact(process.Command(argv))


def judge(machine: Machine, directory: Path, *, hung: bool, status: int) -> Results:
    """The results, or GuestLost if the boot is not trustworthy."""
    console = _read(directory / CONSOLE)
    found = splat.find(console)
    if found:
        raise lost(machine, directory, f"the guest printed a splat ({found.kind})", found)
    text = _read(directory / RESULTS)
    if hung:
        raise lost(machine, directory, f"the guest hung: not done in {machine.timeout:.0f} s", None)
    outcome = results.parse(text)
    if outcome.exit is None:
        raise lost(machine, directory, f"the guest ended without a verdict (QEMU: {status})", None)
    return outcome


def lost(machine: Machine, directory: Path, what: str, found: splat.Splat | None) -> GuestLost:
    """The error: the last console lines, decoded where possible, and the path of the whole log."""
    console = _read(directory / CONSOLE)
    shown = decode(machine.kernel, splat.excerpt(console, found)) or "(the console is empty)"
    qemu = process.tail(directory / "qemu.log", 3) if not console else ""
    said = _read(directory / RESULTS).strip().splitlines()[-3:]
    where = [f"{machine.kernel.arch.name} {machine.kernel.tree.label}: {' '.join(machine.init)}"]
    where += [f"| {line}" for line in [*shown.splitlines(), *qemu.splitlines()]]
    where += [f"results: {line}" for line in said]
    where += [f"whole log: {directory / CONSOLE}"]
    return GuestLost(
        what, "\n".join(where), f"read the log; boot it again with: sh {directory / COMMAND}"
    )


def decode(kernel: Kernel, text: str) -> str:
    """Stack lines with file and line from the kernel's own script, if it has debug information."""
    script = kernel.tree.path / "scripts/decode_stacktrace.sh"
    told = kernel.enables("CONFIG_DEBUG_INFO") and script.exists() and shutil.which("awk")
    if not told:
        return text
    command = ["bash", "-c", '"$1" "$2" "$3" <<<"$4"', "decode", str(script)]
    command += [str(kernel.objdir / "vmlinux"), str(kernel.tree.path), text]
    env = {"CROSS_COMPILE": kernel.toolchain.cross_compile}
    try:
        finished = process.run(process.Command(command, env=env, timeout=60))
    except process.TimedOut:
        return text
    return finished.output if finished.status == 0 and finished.output else text


def workdir(cache: Cache, name: str) -> Path:
    """The directory for a boot of that name. It keeps a lost guest's files until the next boot.

    For all but the first of several quire processes at once, the name gets a number.
    """
    number = next(number for number in itertools.count(1) if cache.reserve("boots", str(number)))
    suffix = f"-{number}" if number > 1 else ""
    directory = cache.root / "boot" / (re.sub(r"[^A-Za-z0-9.=_-]+", "-", name) + suffix)
    process.do(shutil.rmtree, directory, ignore_errors=True)
    process.do(directory.mkdir, parents=True)
    return directory


def _read(path: Path) -> str:
    try:
        return path.read_text(errors="replace")
    except OSError:
        return ""

# SPDX-License-Identifier: GPL-2.0
"""Describe a machine: a kernel, a guest, the computer that runs them, and what to count.

boot/start.py builds the command that starts it."""

from dataclasses import dataclass
from pathlib import Path

from quire.boot.counter import Plugin, symbols
from quire.kernels.guest import Guest
from quire.kernels.kernel import Kernel

CONSOLE, RESULTS, COUNTS, COMMAND = "console.log", "results.txt", "counts.txt", "command"
# The output of the command itself.
LOG = "machine.log"
# UML's copy of what changes on the disk.
CHANGES = "changes.cow"
# The plugin's stream of stops, and the files of names that it reads.
STOPS, WATCH, LOCKS, CACHES = "stops.txt", "watch.txt", "locks.txt", "caches.txt"
# Always print warnings and worse; stack dumps have level "warning".
QUIET = 5
CHATTY = 7
# Split the memory into two nodes where possible: some programs migrate pages between nodes.
NODES = ("numa=fake=2",)
EMULATES_NODES = "CONFIG_NUMA_EMU"


@dataclass(frozen=True)
class Hardware:
    """The computer. One CPU runs under -icount, so that boots are reproducible."""

    cpus: int = 1
    memory: str = "2G"
    # Tests for races turn it off.
    icount: bool = True
    # Omit features that are slow to emulate; counts are not comparable with other runs.
    lean: bool = False
    # QEMU's arguments for a real CPU instead of emulation.
    accelerator: tuple[str, ...] = ()


@dataclass(frozen=True)
class Disk:
    """An ext4 image with a userland, in which init runs. Changes are lost unless `keep`."""

    image: Path
    keep: bool = False
    # A hash of its contents, in place of the path in keys.
    identity: str = ""


@dataclass(frozen=True)
class Counting:
    """The plugin's settings."""

    plugin: Plugin
    # Spans that are counted separately: name:begin symbol:end symbol.
    spans: tuple[str, ...] = ()
    # Lock functions; direct calls are counted by caller.
    locks: tuple[str, ...] = ()
    # Write each region run's cost to STOPS; with `detail`, also by symbol.
    stream: bool = False
    detail: bool = False
    # Functions whose calls are counted in each line of the stream.
    watch: tuple[str, ...] = ()
    # Also count cache lines and page-table words, which is slow.
    lines: bool = False
    # Count other CPUs separately from the measuring one.
    cpus: bool = False
    # Simulate caches of this geometry, one line per level; if `cold`, empty when a region begins.
    caches: tuple[str, ...] = ()
    cold: bool = False
    # Symbols to use instead of the kernel's functions.
    symbols: Path | None = None

    def files(self) -> list[tuple[str, str, tuple[str, ...]]]:
        """Return the plugin's arguments that name files: argument, file and names."""
        files = [("watch", WATCH, self.watch), ("locks", LOCKS, self.locks)]
        files += [("caches", CACHES, self.caches)]
        return [(argument, file, names) for argument, file, names in files if names]

    def argument(self, kernel: Kernel, directory: Path) -> str:
        """Return QEMU's argument for the plugin."""
        words = [str(self.plugin.path), f"symbols={self.symbols or symbols(kernel)}"]
        words += [f"out={directory / COUNTS}", *(f"span={span}" for span in self.spans)]
        words += [f"stream={directory / STOPS}"] if self.stream else []
        words += [f"{name}={directory / file}" for name, file, _ in self.files()]
        words += [
            f"{name}=on" for name in ("detail", "lines", "cpus", "cold") if getattr(self, name)
        ]
        return ",".join(words)


@dataclass(frozen=True)
class Machine:
    """A machine to boot."""

    kernel: Kernel
    # None: the kernel works without user space (KUnit), and its console is the only output.
    guest: Guest | None
    init: tuple[str, ...]
    hardware: Hardware = Hardware()
    counting: Counting | None = None
    # Wall-clock seconds after which the guest counts as hung.
    timeout: float = 300.0
    # Seconds without output after which the guest hangs (launch.Silent); 0: never.
    silence: float = 0.0
    loglevel: int = QUIET
    # Additional kernel parameters.
    parameters: tuple[str, ...] = ()
    disk: Disk | None = None

    def append(self) -> str:
        """Return the kernel's command line. Words after `--` go to init."""
        arch = self.kernel.arch
        words = [f"console={arch.console}", arch.append]
        words += [arch.append_icount] if self.hardware.icount else []
        words += [arch.append_cpus] if self.hardware.icount and self.hardware.cpus > 1 else []
        words += ["panic=-1", "nokaslr", "norandmaps", f"loglevel={self.loglevel}"]
        # The guest then tells the plugin which frames are page tables.
        words += ["quire_lines=on"] if self.counting and self.counting.lines else []
        words += ["quire_few=on"] if self.counting and self.counting.caches else []
        words += [f"quire_root={arch.disk}", arch.append_disk] if self.disk else []
        words += self.parameters
        return " ".join(word for word in [*words, "--", *self.init] if word)

    def outputs(self, directory: Path) -> list[Path]:
        """Return the files that the guest writes while it runs."""
        return [directory / RESULTS, directory / CONSOLE]

    def inputs(self, directory: Path) -> list[Path]:
        """Return the files that QEMU and the plugin read."""
        files = [self.kernel.image, *([self.guest.initrd] if self.guest else [])]
        files += [self.disk.image] if self.disk else []
        if self.counting:
            files += [self.counting.plugin.path, self.counting.symbols or symbols(self.kernel)]
            files += [directory / file for _, file, _ in self.counting.files()]
        return files

    def lay_out(self, directory: Path) -> None:
        """Write the files that the plugin reads."""
        for _, file, names in self.counting.files() if self.counting else ():
            (directory / file).write_text("".join(f"{name}\n" for name in names))


def nodes(kernel: Kernel) -> tuple[str, ...]:
    """Return the parameter that splits the memory, if this kernel supports it."""
    return NODES if kernel.enables(EMULATES_NODES) else ()

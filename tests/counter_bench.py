# SPDX-License-Identifier: GPL-2.0
"""Guests without an operating system, whose counts were worked out by hand, under the plugin.

The guests are counter/tests/*.S; comments in their code give the expected counts.
"""

from __future__ import annotations

import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest
from known import ARM64, RISCV64, X86_64

from quire.arch import Architecture
from quire.boot import counter

COUNTER = Path(__file__).resolve().parent.parent / "counter"
TIMEOUT = 60
ICOUNT = ("-icount", "shift=0,sleep=off")


@dataclass(frozen=True)
class Target:
    """How one architecture's guest is built and started."""

    arch: Architecture
    stem: str
    machine: tuple[str, ...]
    start: tuple[str, ...]
    # The regions that interrupts disturb, also in a span; the handler's name and length.
    interrupted: int
    held: int
    handler: str
    handler_insns: int


TARGETS = [
    Target(
        ARM64,
        "aarch64",
        ("-M", "virt", "-cpu", "max"),
        ("-device", "loader,cpu-num=0,file={elf}"),
        interrupted=9,
        held=15,
        handler="el1_irq",
        handler_insns=4,
    ),
    Target(
        X86_64,
        "x86_64",
        ("-M", "microvm,acpi=off,auto-kernel-cmdline=off,pit=off,pic=off,rtc=off", "-cpu", "max"),
        ("-kernel", "{elf}"),
        interrupted=15,
        held=22,
        handler="k_timer",
        handler_insns=2,
    ),
    Target(
        RISCV64,
        "riscv64",
        ("-M", "virt", "-bios", "none", "-cpu", "rv64,svinval=on"),
        ("-device", "loader,cpu-num=0,file={elf}"),
        interrupted=9,
        held=15,
        handler="k_timer",
        handler_insns=4,
    ),
]


def call(*argv: str | Path) -> str:
    """Run a tool; it must succeed."""
    done = subprocess.run(
        [str(word) for word in argv], text=True, capture_output=True, check=False, timeout=TIMEOUT
    )
    assert done.returncode == 0, f"{argv}\n{done.stdout}{done.stderr}"
    return done.stdout


@dataclass
class Bench:
    """A plugin and a place to build and run guests in."""

    target: Target
    directory: Path
    plugin: Path

    def build(self, *defines: str) -> Path:
        """Build the guest's ELF file and its symbol list."""
        target, elf = self.target, self.directory / "-".join(["guest", *defines])
        script = COUNTER / "tests" / f"{target.stem}.ld"
        flags = ["-nostdlib", "-static", "-no-pie", "-Wl,--build-id=none", f"-Wl,-T,{script}"]
        call(
            f"{target.arch.cross_compile}gcc",
            *flags,
            *(f"-D{name}" for name in defines),
            *("-o", elf, COUNTER / "tests" / f"{target.stem}.S"),
        )
        listing = call(f"{target.arch.cross_compile}nm", "-n", elf)
        rows = re.findall(r"^(f[0-9a-f]{15}) \w (\w+)$", listing, re.M)
        # k_unnamed… is kernel code without a symbol.
        named = [
            f"{address} {name.partition('__')[0]}\n"
            for address, name in rows
            if not name.startswith("k_unnamed")
        ]
        elf.with_suffix(".symbols").write_text("".join(named))
        return elf

    def qemu(self, elf: Path, arguments: str, *more: str) -> subprocess.CompletedProcess[str]:
        """Run QEMU with the plugin until it exits."""
        target = self.target
        argv = [counter.installed(target.arch).binary, *target.machine, "-m", "64", "-smp", "1"]
        argv += ["-nodefaults", "-no-user-config", "-display", "none", "-no-reboot"]
        argv += [word.format(elf=elf) for word in target.start]
        argv += ["-plugin", f"{self.plugin}{arguments}", *more]
        return subprocess.run(argv, text=True, capture_output=True, check=False, timeout=TIMEOUT)

    def count(self, *defines: str, icount: bool = True, more: str = "") -> list[str]:
        """The plugin's output lines for the guest built with `defines`."""
        elf = self.build(*defines)
        out = elf.with_suffix(".count")
        locks = self._names("locks")
        arguments = f",symbols={elf.with_suffix('.symbols')},out={out},locks={locks}{more}"
        arguments += "".join(f",span={span}" for span in spans(self.target))
        done = self.qemu(elf, arguments, *(ICOUNT if icount else ()))
        assert done.returncode == 0, done.stderr
        return out.read_text().splitlines()

    def _names(self, argument: str) -> Path:
        """The file of names for that argument."""
        path = self.directory / argument
        path.write_text("".join(f"{name}\n" for name in noted(self.target, f"{argument}=")))
        return path

    def stream(self, detail: str = "") -> tuple[list[str], list[str]]:
        """The plugin's output lines of a run with a stream, and the lines of the stream."""
        path = self.directory / "stream"
        lines = self.count(more=f",stream={path},watch={self._names('watch')}{detail}")
        return lines, path.read_text().splitlines()


@pytest.fixture(scope="module", params=TARGETS, ids=lambda target: target.stem)
def bench(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Bench:
    """A bench for each architecture. host.qemu() names the package if QEMU is missing."""
    target: Target = request.param
    tools = (target.arch.qemu, f"{target.arch.cross_compile}gcc")
    if target.arch is RISCV64 and not all(map(shutil.which, tools)):
        pytest.skip("apt-get install qemu-system-misc gcc-riscv64-linux-gnu")
    directory = tmp_path_factory.mktemp(target.stem)
    api = counter.installed(target.arch).plugin_api
    call("make", "-C", COUNTER, f"OUT={directory}", f"API={api}")
    return Bench(target, directory, directory / "libquire-count.so")


@pytest.fixture(scope="module")
def counted(bench: Bench) -> list[str]:
    """The lines of one ordinary run."""
    return bench.count()


def source(target: Target) -> str:
    """The guest's source, with the plugin's arguments and the expected counts."""
    return (COUNTER / "tests" / f"{target.stem}.S").read_text()


def noted(target: Target, word: str) -> list[str]:
    """What comments in the guest's source say after `word`, in order."""
    return re.findall(rf"^ \* {word} ?(.+)$", source(target), re.M)


def spans(target: Target) -> list[str]:
    """The span= arguments in the guest's source, in order."""
    return noted(target, "span=")


LINE_KINDS = ("lines_read", "lines_written", "table_words")


def expectations(target: Target, word: str = "expect:") -> dict[int, set[str]]:
    """The expected counts in the guest's source; zero for what is not mentioned."""
    regions: dict[int, set[str]] = {}
    kinds = (*target.arch.event_kinds, *(LINE_KINDS if word == "lines:" else ()))
    for line in noted(target, word):
        regions.setdefault(int(line.split()[1]), set()).add(line)
    for number, lines in regions.items():
        zeros = {f"tlb {number} {name} ": "0" for name in target.arch.tlb_classes}
        zeros |= {f"event {number} {kind} ": "0" for kind in kinds}
        zeros |= {f"span {number} {span.partition(':')[0]} ": "0 0" for span in spans(target)}
        for start, zero in zeros.items():
            if not any(line.startswith(start) for line in lines):
                lines.add(start + zero)
    return regions


def of_region(lines: list[str], number: int) -> list[str]:
    """The output lines of one region."""
    return [line for line in lines[1:-1] if line.split()[1] == str(number)]

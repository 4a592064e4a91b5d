# SPDX-License-Identifier: GPL-2.0
"""An architecture: everything that differs between two of them."""

from __future__ import annotations

from dataclasses import dataclass, replace


@dataclass(frozen=True)
class Cpu:
    """A CPU that some rows are counted on besides the architecture's usual one."""

    # QEMU's name for it, and ours; the word after -cpu.
    name: str
    model: str
    # What it has not, as in a heading.
    lacks: str
    # The rows that differ for it: a workload as `quire bench` takes it, folio sizes in KiB.
    rows: tuple[tuple[str, tuple[int, ...]], ...]


@dataclass(frozen=True)
class Architecture:
    """One file in this folder, read; arm64.toml explains the fields. Times are in seconds."""

    name: str
    srcarch: str
    debian: str
    machine: str
    elf_machine: int
    cross_compile: str
    image_target: str
    image: str
    objects: int
    qemu: str
    machine_args: tuple[str, ...]
    console: str
    append: str
    packages: tuple[str, ...]
    cross_packages: tuple[str, ...]
    tlb_classes: tuple[str, ...]
    lean_args: tuple[str, ...] = ()
    append_icount: str = ""
    aliases: tuple[str, ...] = ()
    # Left out where ARCH= names none: it boots small kernels without user space only.
    proofs_only: bool = False
    # Further CPUs to count on; `cpu` is the one of them that this is, None for the usual one.
    further_cpus: tuple[Cpu, ...] = ()
    cpu: Cpu | None = None

    @property
    def label(self) -> str:
        """For stages and directories: the name, and the CPU if it is not the usual one."""
        return f"{self.name} {self.cpu.name}" if self.cpu else self.name

    @property
    def title(self) -> str:
        """For headings: the label, and what the CPU lacks."""
        return f"{self.name} · {self.cpu.name} ({self.cpu.lacks})" if self.cpu else self.name

    def on(self, cpu: Cpu) -> Architecture:
        """The same architecture, emulated with another CPU."""
        at = self.machine_args.index("-cpu") + 1
        words = (*self.machine_args[:at], cpu.model, *self.machine_args[at + 1 :])
        return replace(self, machine_args=words, lean_args=(), cpu=cpu)

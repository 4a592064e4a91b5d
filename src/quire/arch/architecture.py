# SPDX-License-Identifier: GPL-2.0
"""An architecture: everything that differs between architectures."""

from __future__ import annotations

from dataclasses import dataclass, replace


@dataclass(frozen=True)
class Rows:
    """Rows to count: a workload, as for `quire bench`, and folio sizes in KiB."""

    workload: str
    sizes: tuple[int, ...]


@dataclass(frozen=True)
class Cpu:
    """A CPU besides the architecture's default one, for --cpu; the demo counts some rows on it."""

    # Our name for the CPU, and QEMU's: the word after -cpu.
    name: str
    model: str
    # The missing feature, as it appears in a heading.
    lacks: str
    # What the demo, and bench without further words, count on this CPU.
    rows: tuple[Rows, ...] = ()


@dataclass(frozen=True)
class Architecture:
    """The contents of one file in this folder; arm64.toml explains the fields. Times in seconds."""

    name: str
    srcarch: str
    debian: str
    machine: str
    elf_machine: int
    option: str
    cross_compile: str
    image_target: str
    image: str
    objects: int
    console: str
    append: str
    packages: tuple[str, ...]
    cross_packages: tuple[str, ...]
    # kbuild's ARCH.
    kbuild: str
    # What user programs are compiled for, as guest/arch/ names it.
    guest: str
    # The architecture whose keys this one has where its file does not say them; empty: none.
    like: str = ""
    # Without one, the kernel is a program of this host.
    qemu: str = ""
    machine_args: tuple[str, ...] = ()
    tlb_classes: tuple[str, ...] = ()
    # What each class invalidates, in the order of `tlb_classes`: "page", "range" or "space".
    tlb_kinds: tuple[str, ...] = ()
    # The kinds of events that the counting plugin reports.
    event_kinds: tuple[str, ...] = ()
    # Further options that a kernel needs for the guest, besides the common ones.
    guest_options: tuple[str, ...] = ()
    lean_args: tuple[str, ...] = ()
    # The device that has the port for results.
    results_device: str = "virtio-serial-device"
    # Of a machine that runs tests or programs, where pages are larger; empty: as the test needs.
    memory: str = ""
    # A case takes many times as long as on others: more data.
    slow: bool = False
    append_icount: str = ""
    append_fuzz: str = ""
    append_cpus: str = ""
    # Functions whose calls are: interrupts sent to other CPUs, such interrupts handled, flushes of
    # other CPUs' TLBs that the caller waits for.
    ipis_sent: tuple[str, ...] = ()
    ipis_handled: tuple[str, ...] = ()
    remote_flushes: tuple[str, ...] = ()
    # The CPU whose caches are simulated and whose cycles are estimated: measure/cpus/NAME.toml.
    modelled: str = ""
    # The sizes of folios in KiB that rows have in place of the first ones of workloads.SIZES; rows
    # of other sizes are left out. Empty: the same sizes.
    folio_sizes: tuple[int, ...] = ()
    kvm_args: tuple[str, ...] = ()
    # KVM needs one of these flags of the CPU; empty: the flags say nothing about it.
    kvm_flags: tuple[str, ...] = ()
    aliases: tuple[str, ...] = ()
    # Whether the fuzzer's executor, which makes 64-bit system calls itself, runs there.
    fuzzed: bool = True
    # Not in the default list of architectures, but ARCH= may name it.
    on_request: bool = False
    # Whether a line's fragments for all architectures are part of its configuration.
    common_config: bool = True
    # CPUs besides the default; `cpu` is the one selected, None for the default.
    further_cpus: tuple[Cpu, ...] = ()
    cpu: Cpu | None = None

    @property
    def counted_cpus(self) -> tuple[Cpu, ...]:
        """The further CPUs on which the demo counts rows."""
        return tuple(cpu for cpu in self.further_cpus if cpu.rows)

    @property
    def label(self) -> str:
        """For stages and directories: the name, and the CPU if it is not the default."""
        return f"{self.name} {self.cpu.name}" if self.cpu else self.name

    @property
    def emulator(self) -> str:
        """What runs the kernel, for messages."""
        return "QEMU" if self.qemu else "UML"

    @property
    def title(self) -> str:
        """For headings: the label, and the feature that the CPU lacks."""
        return f"{self.name} · {self.cpu.name} ({self.cpu.lacks})" if self.cpu else self.name

    def on(self, cpu: Cpu) -> Architecture:
        """The same architecture, emulated with another CPU: QEMU uses the last -cpu."""
        words = (*self.machine_args, "-cpu", cpu.model)
        return replace(self, machine_args=words, lean_args=(), cpu=cpu)

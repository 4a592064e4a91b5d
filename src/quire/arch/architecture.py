# SPDX-License-Identifier: GPL-2.0
"""An architecture: everything that differs between architectures."""

from dataclasses import dataclass, replace


@dataclass(frozen=True)
class Rows:
    """Benchmarks to count: a workload, as for `quire bench`, and folio sizes in KiB."""

    workload: str
    sizes: tuple[int, ...]


@dataclass(frozen=True)
class Cpu:
    """A further CPU of an architecture, for --cpu; the demo counts some benchmarks on it."""

    # Our name for the CPU, and QEMU's (after -cpu).
    name: str
    model: str
    # The missing feature, for headings.
    lacks: str
    # The benchmarks that the demo, and bench without names, count on this CPU.
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
    # The target of user programs, as named in guest/arch/.
    guest: str
    # The architecture that provides keys which this file lacks; empty: none.
    like: str = ""
    # Empty: the kernel is a program of this host.
    qemu: str = ""
    machine_args: tuple[str, ...] = ()
    tlb_classes: tuple[str, ...] = ()
    # The scope of each class, in the order of `tlb_classes`: "page", "range" or "space".
    tlb_kinds: tuple[str, ...] = ()
    # The kinds of events that the counting plugin reports.
    event_kinds: tuple[str, ...] = ()
    # Options that the guest needs besides the common ones.
    guest_options: tuple[str, ...] = ()
    lean_args: tuple[str, ...] = ()
    # The device with the results port.
    results_device: str = "virtio-serial-device"
    # The kernel's name of a disk.
    disk: str = "vda"
    # Appended to the kernel's command line if there is one.
    append_disk: str = ""
    # Memory of a machine that runs tests or programs, for larger pages; empty: as the test needs.
    memory: str = ""
    # Whether cases take many times longer than elsewhere, because of more data.
    slow: bool = False
    append_icount: str = ""
    append_fuzz: str = ""
    append_cpus: str = ""
    # Functions whose calls count as IPIs sent, as IPIs handled, and as flushes of other CPUs' TLBs
    # for which the caller waits.
    ipis_sent: tuple[str, ...] = ()
    ipis_handled: tuple[str, ...] = ()
    remote_flushes: tuple[str, ...] = ()
    # The CPU whose caches are simulated and whose cycles are estimated: measure/cpus/NAME.toml.
    modelled: str = ""
    # Folio sizes in KiB that replace the first ones in workloads.SIZES; benchmarks of other sizes
    # are left out. Empty: the same sizes.
    folio_sizes: tuple[int, ...] = ()
    kvm_args: tuple[str, ...] = ()
    # KVM needs one of these CPU flags; empty: the flags do not tell.
    kvm_flags: tuple[str, ...] = ()
    aliases: tuple[str, ...] = ()
    # Whether the fuzzer's executor, which makes raw 64-bit system calls, runs there.
    fuzzed: bool = True
    # Whether only ARCH= selects it; it is not in the default list.
    on_request: bool = False
    # Whether a line's fragments for all architectures are part of its configuration.
    common_config: bool = True
    # CPUs besides the default; `cpu` is the one selected, None for the default.
    further_cpus: tuple[Cpu, ...] = ()
    cpu: Cpu | None = None

    @property
    def counted_cpus(self) -> tuple[Cpu, ...]:
        """The further CPUs on which the demo counts benchmarks."""
        return tuple(cpu for cpu in self.further_cpus if cpu.rows)

    @property
    def label(self) -> str:
        """Name and non-default CPU, for stages and directories."""
        return f"{self.name} {self.cpu.name}" if self.cpu else self.name

    @property
    def emulator(self) -> str:
        """The program that runs the kernel, for messages."""
        return "QEMU" if self.qemu else "UML"

    @property
    def title(self) -> str:
        """Label and missing CPU feature, for headings."""
        return f"{self.name} · {self.cpu.name} ({self.cpu.lacks})" if self.cpu else self.name

    def on(self, cpu: Cpu) -> "Architecture":
        """Return the architecture with another emulated CPU; QEMU uses the last -cpu."""
        words = (*self.machine_args, "-cpu", cpu.model)
        return replace(self, machine_args=words, lean_args=(), cpu=cpu)

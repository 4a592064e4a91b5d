# SPDX-License-Identifier: GPL-2.0
"""The architectures, as data. Nothing else in the lab asks which one it has."""

from __future__ import annotations

from dataclasses import dataclass, replace

from quire.host.errors import UserError


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
    """All that differs between two architectures."""

    # Our name, and the name kbuild takes as ARCH=.
    name: str
    # arch/<srcarch>/ in the kernel source.
    srcarch: str
    # Debian's name for it, as in package files.
    debian: str
    # As platform.machine() reports it on a host where no cross compiler is needed.
    machine: str
    # CROSS_COMPILE on any other host.
    cross_compile: str
    # The make target of the boot image, and the image's path in the O= directory.
    image_target: str
    image: str
    # How many object files our configuration builds, for "what is left" only.
    objects: int
    # QEMU's binary and how it emulates a machine with virtio-mmio and one UART.
    qemu: str
    machine_args: tuple[str, ...]
    console: str
    # Where nothing is counted: the same without what is slow to emulate. The last -cpu is taken.
    lean_args: tuple[str, ...]
    # Appended to the kernel command line, before `--`: always, and under -icount only.
    append: str
    append_icount: str
    # Debian packages beyond those every architecture needs (host.py).
    packages: tuple[str, ...]
    # Packages needed to compile for it on a foreign host.
    cross_packages: tuple[str, ...]
    # TLB invalidation classes the plugin reports, in table order, with a heading.
    tlb_classes: tuple[str, ...]
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


# Armv8.2 as in the first large arm64 servers: hardware access and dirty flags and LSE atomics, as
# `max` has them, but a TLBI for each page of a range.
NEOVERSE_N1 = Cpu(
    name="neoverse-n1",
    model="neoverse-n1",
    lacks="no ranged TLBI",
    rows=(
        ("swapout,data=zero", (4, 64, 2048)),
        ("lazyfree", (4, 64, 2048)),
        ("mremap", (4, 64, 2048)),
    ),
)

ARM64 = Architecture(
    name="arm64",
    srcarch="arm64",
    debian="arm64",
    machine="aarch64",
    cross_compile="aarch64-linux-gnu-",
    image_target="Image",
    image="arch/arm64/boot/Image",
    objects=1170,
    qemu="qemu-system-aarch64",
    # pauth-impdef: the architected pointer-authentication hash is slow to emulate.
    # sve: the guest does not use it, and the kernel would save its registers.
    # lpa2: with it, a ranged TLBI begins at a multiple of 64 KiB; the servers of today lack it.
    machine_args=("-M", "virt,gic-version=3", "-cpu", "max,pauth-impdef=on,sve=off,lpa2=off"),
    console="ttyAMA0",
    # The kernel signs and checks every return address.
    lean_args=("-cpu", "max,pauth=off,sve=off,lpa2=off"),
    append="earlycon=pl011,mmio32,0x09000000",
    append_icount="",
    packages=("qemu-system-arm",),
    cross_packages=("gcc-aarch64-linux-gnu", "libc6-dev-arm64-cross"),
    tlb_classes=("tlbi_va", "tlbi_range", "tlbi_asid", "tlbi_all"),
    further_cpus=(NEOVERSE_N1,),
)

X86_64 = Architecture(
    name="x86_64",
    srcarch="x86",
    debian="amd64",
    machine="x86_64",
    cross_compile="x86_64-linux-gnu-",
    image_target="bzImage",
    image="arch/x86/boot/bzImage",
    objects=1340,
    qemu="qemu-system-x86_64",
    # QEMU would append the virtio-mmio device list after `--`, where init's arguments are;
    # so it is told not to, and the list stands in `append`.
    machine_args=(
        "-M",
        "microvm,acpi=off,rtc=on,auto-kernel-cmdline=off",
        # With ERMS the kernel would clear pages by `rep stosb`, which QEMU does byte by byte.
        "-cpu",
        "max,erms=off,fsrm=off",
    ),
    console="ttyS0",
    lean_args=(),
    # microvm puts eight 512-byte virtio-mmio windows at 0xfeb00000, IRQs from 5
    # (hw/i386/microvm.c); devices are plugged in from the last one downwards.
    append="reboot=t earlycon=uart8250,io,0x3f8 "
    + " ".join(f"virtio_mmio.device=512@{0xFEB00000 + 512 * i:#x}:{5 + i}" for i in (6, 7)),
    # Calibrating the APIC timer spins on RDTSC for 100 virtual ms, and -icount ends a
    # translation block at each RDTSC: 14 s of real time. The PIT serves one CPU as well.
    append_icount="noapictimer tsc_early_khz=1000000",
    packages=("qemu-system-x86",),
    cross_packages=("gcc-x86-64-linux-gnu", "libc6-dev-amd64-cross"),
    tlb_classes=("invlpg", "invpcid", "cr3"),
)

# For `quire kunit` alone: page tables of two levels. Compiler (-m32) and QEMU are x86_64's.
I386 = replace(
    X86_64,
    name="i386",
    objects=480,
    # A 32-bit kernel finds no timer in a microvm without ACPI.
    machine_args=("-M", "pc", "-cpu", "max"),
    append="reboot=t earlycon=uart8250,io,0x3f8",
)

ARCHITECTURES: dict[str, Architecture] = {a.name: a for a in (ARM64, X86_64)}
# Names people use for the same thing: kbuild's SRCARCH, uname's, Debian's.
ALIASES = {"x86": "x86_64", "amd64": "x86_64", "x86-64": "x86_64", "aarch64": "arm64"}


def further_cpu(name: str) -> list[tuple[Architecture, Cpu]]:
    """The architectures that count on a further CPU of that name. UserError if none does."""
    known = [(arch, cpu) for arch in ARCHITECTURES.values() for cpu in arch.further_cpus]
    found = [(arch, cpu) for arch, cpu in known if cpu.name == name]
    if not found:
        raise UserError(
            f"unknown CPU {name!r}",
            remedy=f"use one of: {', '.join(cpu.name for _, cpu in known)}\n"
            "or leave --cpu out for the usual one",
        )
    return found


def architecture(name: str) -> Architecture:
    """The architecture called `name`, by any of its usual names. UserError if none is."""
    found = ARCHITECTURES.get(ALIASES.get(name, name))
    if found is None:
        raise UserError(
            f"unknown architecture {name!r}", remedy=f"use one of: {', '.join(ARCHITECTURES)}"
        )
    return found

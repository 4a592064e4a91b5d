# SPDX-License-Identifier: GPL-2.0
"""Time both sides in virtual machines, A, B, A, B, … under KVM, or emulated to try code paths."""

import contextlib
import os
import platform
import shutil
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib import resources
from pathlib import Path

from quire.arch import Architecture
from quire.boot import launch
from quire.boot.machine import LOG, Hardware, Machine
from quire.host import process
from quire.host.cache import Cache, digest, sha256
from quire.host.errors import Difference, UserError
from quire.kernels import guest
from quire.kernels.guest import Guest
from quire.kernels.kernel import Kernel, Toolchain, compile
from quire.measure.workloads import Benchmark
from quire.session import Session
from quire.timing import document
from quire.timing.document import Timing

KVM = Path("/dev/kvm")
CPUINFO = Path("/proc/cpuinfo")
# QEMU prints it and stops the machine, but keeps running.
BROKEN = "KVM internal error"
# Seconds for a boot, in addition to its benchmarks.
TIMEOUT = 600.0
# With this many boots of each side, a boot is one value of the comparison.
BOOTS = 7


@dataclass(frozen=True)
class BootPlan:
    """Boot options: boots per side, the program's arguments, and whether to emulate."""

    number: int
    words: tuple[str, ...]
    kvm: bool
    timeout: float = TIMEOUT


def require_kvm(arch: Architecture) -> None:
    """Raise UserError unless this host can run `arch` with KVM."""
    if platform.machine() != arch.machine:
        raise UserError(
            f"this host's CPU is {platform.machine()}, and KVM supports no other",
            f"{arch.name} needs {arch.machine}",
            f"run a bundle on a machine of {arch.name}: quire time run --bundle DIR",
        )
    if not os.access(KVM, os.R_OK | os.W_OK):
        raise UserError(
            "KVM cannot be used",
            f"{KVM} {'may not be opened' if KVM.exists() else 'does not exist'}",
            "as root: modprobe kvm_intel or kvm_amd; or join the group kvm",
        )
    if arch.kvm_flags and not set(arch.kvm_flags) & set(CPUINFO.read_text().split()):
        raise UserError(
            "this CPU lacks full virtualisation, and KVM would emulate part of the guest",
            f"{CPUINFO}: none of the flags {', '.join(arch.kvm_flags)}",
            "use another machine, or nested virtualisation; or run a bundle here",
        )


def run(session: Session, kernels: Sequence[Kernel], built: Path, boots: BootPlan) -> list[Timing]:
    """Boot the kernels in turn; return a timing for each. GuestLost if one does not finish."""
    arch = kernels[0].arch
    accelerator = arch.kvm_args if boots.kvm else ()
    hardware = Hardware(icount=False, lean=not boots.kvm, accelerator=accelerator)
    machines = [
        Machine(
            kernel,
            as_guest(session.cache, kernel, built),
            ("time", *boots.words),
            hardware,
            timeout=boots.timeout,
        )
        for kernel in kernels
    ]
    timings: list[list[Timing]] = [[] for _ in kernels]
    with session.progress.stage(f"{arch.name} time", boots.number * len(kernels)), pinned():
        for number in range(boots.number):
            for at, machine in enumerate(machines):
                timings[at].append(_boot(session, machine, number))
                done = number * len(kernels) + at + 1
                session.progress.at(done, machine.kernel.tree.label)
    labels = [kernel.tree.label for kernel in kernels]
    return [document.merge(*boots_of) for boots_of in zip(timings, labels, strict=True)]


def _boot(session: Session, boot: Machine, number: int) -> Timing:
    label = f"time-{boot.kernel.arch.name}-{boot.kernel.tree.label}-{number}"
    work = launch.workdir(session.cache, label)
    outcome = launch.boot(boot, session.place, work, lambda: _require_running(boot, work))
    text = "\n".join(outcome.other)
    if not text.startswith("{"):
        raise Difference("the guest reported no times", "\n".join([*outcome.notes, str(work)]))
    return document.parse(text, label)


def _require_running(boot: Machine, work: Path) -> None:
    """Raise GuestLost if KVM failed."""
    log = work / LOG
    if log.is_file() and BROKEN in log.read_text(errors="replace"):
        raise launch.lost(boot, work, f"{BROKEN}: {log}")


@contextlib.contextmanager
def pinned() -> Iterator[None]:
    """Pin this thread and its machines to the last available CPU."""
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {max(before)})
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)


PROGRAM = "quire-time"


def plan(benchmarks: Sequence[Benchmark]) -> str:
    """Return the plan's rows, as in guest/time/plan.h: name, unit, words of `bench`."""
    return "".join(
        f"{benchmark.name}|{benchmark.workload.unit}|{' '.join(benchmark.words()[1:])}\n"
        for benchmark in benchmarks
    )


def build_program(
    cache: Cache,
    sources: Path,
    arch: Architecture,
    tools: Toolchain,
    benchmarks: Sequence[Benchmark],
) -> Path:
    """Compile the program. BuildFailed with the first error line."""
    rows = plan(benchmarks)
    # Programs with different rows are comparable; those of other sources or compilers are not.
    made_of = digest(tools.version, *guest.source_files(sources))
    key = f"{arch.name}-{digest(made_of, rows)}"

    def make(directory: Path) -> None:
        log = cache.log(f"time-{arch.name}")
        (directory / "plan").write_text(rows)
        argv = ["make", "-C", str(sources), f"ARCH={arch.guest}"]
        argv += [f"CROSS_COMPILE={tools.cross_compile}", f"O={directory}"]
        argv += [f"PLAN={directory / 'plan'}", f"BUILD={made_of}", str(directory / PROGRAM)]
        what = f"the timing program did not build for {arch.name}"
        compile(process.Command(argv, log=log), what)

    return cache.make("time", key, make) / PROGRAM


def as_guest(cache: Cache, kernel: Kernel, program: Path) -> Guest:
    """Build an initramfs with the program as its init."""
    key = f"{kernel.arch.name}-time-{program.parent.name}"

    def make(directory: Path) -> None:
        guest.pack(kernel, program, directory / "guest.cpio")

    initrd = cache.make("guest", key, make) / "guest.cpio"
    return Guest(kernel.arch, initrd, sha256(initrd))


def bundle(directory: Path, programs: Mapping[str, Path]) -> list[Path]:
    """Copy each architecture's program with instructions; return the written paths."""
    directory.mkdir(parents=True, exist_ok=True)
    for arch, program in programs.items():
        copy = directory / f"{PROGRAM}-{arch}"
        shutil.copy2(program, copy)
        copy.chmod(0o755)
    readme = directory / "README"
    readme.write_text(resources.files("quire.timing").joinpath("README.bundle").read_text())
    return [*(directory / f"{PROGRAM}-{arch}" for arch in programs), readme]

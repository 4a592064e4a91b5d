# SPDX-License-Identifier: GPL-2.0
"""The program that times: the guest's workloads as one static binary, with its rows built in.

It is the init of a machine, or, in a bundle, for a machine that has no checkout of ours.
"""

from __future__ import annotations

import shutil
from collections.abc import Mapping, Sequence
from importlib import resources
from pathlib import Path

from quire.arch import Architecture
from quire.build import guest
from quire.build.guest import Guest
from quire.build.kernel import Kernel, Toolchain, explain
from quire.host import process
from quire.host.cache import Cache, digest, sha256
from quire.measure.workloads import Benchmark

NAME = "quire-time"


def plan(benchmarks: Sequence[Benchmark]) -> str:
    """The rows, as guest/time/plan.h has them: name, unit, words of `bench`."""
    return "".join(
        f"{benchmark.name}|{benchmark.workload.unit}|{' '.join(benchmark.words()[1:])}\n"
        for benchmark in benchmarks
    )


def build(
    cache: Cache,
    sources: Path,
    arch: Architecture,
    tools: Toolchain,
    benchmarks: Sequence[Benchmark],
) -> Path:
    """Compile the program. BuildFailed with the first error line."""
    rows = plan(benchmarks)
    # Two programs with other rows may be compared, of other sources or compilers not.
    made_of = digest(tools.version, *guest.source_files(sources))
    key = f"{arch.name}-{digest(made_of, rows)}"

    def make(directory: Path) -> None:
        log = cache.log(f"time-{arch.name}")
        (directory / "plan").write_text(rows)
        argv = ["make", "-C", str(sources), f"ARCH={arch.guest}"]
        argv += [f"CROSS_COMPILE={tools.cross_compile}", f"O={directory}"]
        argv += [f"PLAN={directory / 'plan'}", f"BUILD={made_of}", str(directory / NAME)]
        command = process.Command(argv, log=log)
        if process.run(command).status:
            raise explain(f"the program that times did not build for {arch.name}", log, command)

    return cache.make("time", key, make) / NAME


def as_guest(cache: Cache, kernel: Kernel, program: Path) -> Guest:
    """An initramfs with the program as its init."""
    key = f"{kernel.arch.name}-time-{program.parent.name}"

    def make(directory: Path) -> None:
        guest.pack(kernel, program, directory / "guest.cpio")

    initrd = cache.make("guest", key, make) / "guest.cpio"
    return Guest(kernel.arch, initrd, sha256(initrd))


def bundle(directory: Path, programs: Mapping[str, Path]) -> list[Path]:
    """Copy the program of each architecture, and what to do with it. The written paths."""
    directory.mkdir(parents=True, exist_ok=True)
    for arch, program in programs.items():
        copy = directory / f"{NAME}-{arch}"
        shutil.copy2(program, copy)
        copy.chmod(0o755)
    readme = directory / "README"
    readme.write_text(resources.files("quire.timing").joinpath("README.bundle").read_text())
    return [*(directory / f"{NAME}-{arch}" for arch in programs), readme]

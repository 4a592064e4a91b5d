# SPDX-License-Identifier: GPL-2.0
"""A kernel: tree × architecture × configuration, built in an ordinary O= directory."""

from __future__ import annotations

import json
import platform
import re
import shutil
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from quire.arch import Architecture
from quire.build import kconfig, start
from quire.build.start import BUILT
from quire.host import process
from quire.host.cache import Cache, digest, sha256
from quire.host.errors import BuildFailed, UserError
from quire.source.tree import OBJDIR_PREFIX, Tree

# With these, the same inputs give the same image, byte for byte.
REPRODUCIBLE = {
    "KBUILD_BUILD_TIMESTAMP": "Thu Jan  1 00:00:00 UTC 1970",
    "KBUILD_BUILD_USER": "quire",
    "KBUILD_BUILD_HOST": "quire",
    "KBUILD_BUILD_VERSION": "1",
}
# Marks a running or killed make, in the O= directory.
BUILDING = ".quire-building"
# So many lost options are named where they are no error.
NAMED = 20
# kbuild prints one such line per step.
STEP = re.compile(rb"^  (CC|AS|LD|AR|HOSTCC|HOSTLD) ", re.M)


@dataclass(frozen=True)
class Toolchain:
    """CROSS_COMPILE for one architecture, and the first line of `gcc --version`."""

    cross_compile: str
    version: str


@dataclass(frozen=True)
class Kernel:
    """A built kernel. `image_sha256` is part of the key of cached counts."""

    arch: Architecture
    tree: Tree
    config_key: str
    toolchain: Toolchain
    objdir: Path
    image_sha256: str

    @property
    def image(self) -> Path:
        """The image that QEMU boots."""
        return self.objdir / self.arch.image

    @property
    def system_map(self) -> Path:
        """Addresses and names of all symbols."""
        return self.objdir / "System.map"

    @property
    def config(self) -> Path:
        """The resolved configuration."""
        return self.objdir / ".config"

    def enables(self, option: str) -> bool:
        """Whether this CONFIG_ option is built in; False for a kernel that is not built."""
        return self.config.exists() and kconfig.parse(self.config.read_text()).get(option) == "y"


@dataclass(frozen=True)
class Request:
    """The kernel to build; `fragments` in order, `jobs` as make's -j."""

    arch: Architecture
    tree: Tree
    fragments: tuple[Path, ...]
    toolchain: Toolchain
    jobs: int
    # Whether every option of the fragments must survive; otherwise lost options are only printed.
    strict: bool = True

    @property
    def config_key(self) -> str:
        """The key of fragments and compiler."""
        return digest(self.arch.name, self.toolchain.version, kconfig.options(self.fragments))

    @property
    def objdir(self) -> Path:
        """The O= directory, directly inside the tree."""
        name = f"{OBJDIR_PREFIX}{self.arch.name}-{self.config_key}"
        return self.tree.path / name

    @property
    def title(self) -> str:
        """The title for messages."""
        return f"{self.arch.name} {self.tree.label} kernel"


def toolchain(arch: Architecture, cross_compile: str | None = None) -> Toolchain:
    """The compiler for `arch`; if it is missing, UserError names its package."""
    native = platform.machine() == arch.machine
    prefix = cross_compile if cross_compile is not None else "" if native else arch.cross_compile
    compiler = f"{prefix}gcc"
    if not shutil.which(compiler):
        packages = ("gcc", "libc6-dev") if native else arch.cross_packages
        raise UserError(
            f"{compiler}, the compiler for {arch.name}, is not installed",
            remedy=f"apt-get install {' '.join(packages)}\nor name another with CROSS_COMPILE=",
        )
    output = process.query(compiler, "--version").output
    return Toolchain(prefix, output.partition("\n")[0])


def build(cache: Cache, request: Request, tick: Callable[[int], None] | None = None) -> Kernel:
    """Build the kernel unless it is built already. `tick` gets the number of finished make steps.

    BuildFailed with the first error line and the path of the log. Finished objects are kept for the
    next attempt, unless the disk is full.
    """
    objdir = request.objdir
    with cache.lock("kernel", f"{request.tree.key}-{objdir.name}"):
        if not (objdir / BUILT).is_file():
            log = log_file(cache, "kernel", request)
            process.do(_prepare, request)
            try:
                _configure(request, log)
                _make(request, log, tick)
            except BuildFailed:
                _tidy(request, log)
                raise
            except (KeyboardInterrupt, OSError):
                # make has exited and removed its incomplete targets.
                (objdir / BUILDING).unlink(missing_ok=True)
                raise
            process.do(_finish, request)
    return _load(request)


def configure(cache: Cache, request: Request) -> Path:
    """The resolved configuration of a stock kernel, without building it. BuildFailed as for
    build()."""
    with cache.lock("kernel", f"{request.tree.key}-{request.objdir.name}"):
        process.do(request.objdir.mkdir, exist_ok=True)
        _configure(request, log_file(cache, "config", request))
    return request.objdir / ".config"


def make_command(request: Request, *targets: str, log: Path | None = None) -> process.Command:
    """The kbuild command, as typed by hand."""
    argv = ["make", f"-j{request.jobs}", f"ARCH={request.arch.name}"]
    if request.toolchain.cross_compile:
        argv.append(f"CROSS_COMPILE={request.toolchain.cross_compile}")
    argv += [f"O={request.objdir.name}", "LOCALVERSION=", *targets]
    return process.Command(argv, cwd=request.tree.path, env=REPRODUCIBLE, log=log)


def steps(log: Path) -> int:
    """The number of finished make steps in the log."""
    try:
        return len(STEP.findall(log.read_bytes()))
    except OSError:
        return 0


def log_file(cache: Cache, kind: str, request: Request) -> Path:
    """A log for each kernel: several may be built at a time, and their steps are counted in it."""
    return cache.log(f"{kind}-{request.tree.label}-{request.tree.key}-{request.objdir.name}")


def _prepare(request: Request) -> None:
    """Start with an empty O= directory, or a copy of another tree's build."""
    objdir = request.objdir
    if (objdir / BUILDING).exists():
        # quire and make were killed: a target may be incomplete.
        shutil.rmtree(objdir)
    if not start.copy(request.tree, objdir.name):
        objdir.mkdir()
    (objdir / BUILDING).write_text("")


def _configure(request: Request, log: Path) -> None:
    objdir = request.objdir
    if (objdir / ".config").is_file() and (objdir / "include/config/auto.conf").is_file():
        return
    _check(request, make_command(request, "allnoconfig", log=log), log)
    merge = ["scripts/kconfig/merge_config.sh", "-m", "-O", objdir.name, f"{objdir.name}/.config"]
    merge += [str(path.resolve()) for path in request.fragments]
    _check(request, process.Command(merge, cwd=request.tree.path, log=log), log)
    _check(request, make_command(request, "olddefconfig", log=log), log)
    process.do(_require, request, objdir / ".config")


def _require(request: Request, config: Path) -> None:
    if request.strict:
        kconfig.require(request.fragments, config)
        return
    lost = kconfig.lost(request.fragments, kconfig.parse(config.read_text()))
    if lost:
        names = ", ".join(one.option for one in lost[:NAMED])
        more = f" and {len(lost) - NAMED} more" if len(lost) > NAMED else ""
        print(
            f"quire: {len(lost)} options of {request.fragments[0].name} and others did not survive "
            f"in Linux {request.tree.base.version}: {names}{more}",
            file=sys.stderr,
        )


def _make(request: Request, log: Path, tick: Callable[[int], None] | None) -> None:
    command = make_command(request, request.arch.image_target, log=log)
    _check(request, command, log, (lambda: tick(steps(log))) if tick else None)


def _check(
    request: Request, command: process.Command, log: Path, tick: Callable[[], None] | None = None
) -> None:
    finished = process.run(command, tick)
    if finished.status:
        raise explain(f"the {request.title} did not build", log, command)


def explain(what: str, log: Path, command: process.Command) -> BuildFailed:
    """The error for a failed make: its first `error:` line, the log, the command."""
    text = log.read_text(errors="replace")
    if "No space left on device" in text:
        return BuildFailed(
            f"no space left on the device: {what}",
            f"whole log: {log}",
            "free some space (a demo needs 4 GB), or name another build directory with O=DIR",
        )
    found = re.search(r"^.*(?:\berror:|\bError:|\*\*\* ).*$", text, re.M)
    first = found[0].strip() if found else process.tail(log, 3)
    return BuildFailed(
        what,
        f"{first}\nwhole log: {log}\ncommand: {command.text()}",
        "fix the source or the configuration; the next run continues where make stopped",
    )


def _tidy(request: Request, log: Path) -> None:
    (request.objdir / BUILDING).unlink(missing_ok=True)
    if "No space left on device" in log.read_text(errors="replace"):
        # A full disk truncates files that make considers complete.
        shutil.rmtree(request.objdir, ignore_errors=True)


def _finish(request: Request) -> None:
    image = request.objdir / request.arch.image
    record = {"image_sha256": sha256(image), "compiler": request.toolchain.version}
    temporary = request.objdir / f"{BUILT}.new"
    temporary.write_text(json.dumps(record) + "\n")
    temporary.replace(request.objdir / BUILT)
    (request.objdir / BUILDING).unlink(missing_ok=True)


def _load(request: Request) -> Kernel:
    built = request.objdir / BUILT
    record = json.loads(built.read_text()) if built.is_file() else {"image_sha256": ""}
    return Kernel(
        request.arch,
        request.tree,
        request.config_key,
        request.toolchain,
        request.objdir,
        record["image_sha256"],
    )

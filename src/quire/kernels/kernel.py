# SPDX-License-Identifier: GPL-2.0
"""Build a kernel (tree × architecture × configuration) in an ordinary O= directory."""

import json
import platform
import re
import shutil
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from quire.arch import Architecture
from quire.host import process
from quire.host.cache import Cache, digest, sha256
from quire.host.errors import BuildFailed, UserError
from quire.host.process import Command
from quire.kernels import kconfig
from quire.source.tree import OBJDIR_PREFIX, Tree

# These make the image reproducible, byte for byte.
REPRODUCIBLE = {
    "KBUILD_BUILD_TIMESTAMP": "Thu Jan  1 00:00:00 UTC 1970",
    "KBUILD_BUILD_USER": "quire",
    "KBUILD_BUILD_HOST": "quire",
    "KBUILD_BUILD_VERSION": "1",
}
# In the O= directory: the marks of a complete build, and of a running or killed make.
BUILT, BUILDING = ".quire-built", ".quire-building"
# The compiler cache and its directory below the build directory.
CCACHE = "ccache"
# The LLVM programs that kbuild requires.
LLVM_PROGRAMS = ("clang", "ld.lld", "llvm-ar", "llvm-nm", "llvm-objcopy")
LLVM_PACKAGES = ("clang", "lld", "llvm")
# Maximum number of lost options named where these are not an error.
NAMED = 20
# kbuild prints one such line per step.
STEP = re.compile(rb"^  (CC|AS|LD|AR|HOSTCC|HOSTLD) ", re.M)


@dataclass(frozen=True)
class Toolchain:
    """CROSS_COMPILE for one architecture, and the first line of the compiler's --version.

    `llvm` is kbuild's LLVM: 1, the suffix of the programs such as `-19`, or their directory with a
    trailing slash. User-space programs are always compiled by gcc.
    """

    cross_compile: str
    version: str
    llvm: str = ""

    @property
    def compiler(self) -> str:
        """The compiler for kernels."""
        return llvm_program("clang", self.llvm) if self.llvm else f"{self.cross_compile}gcc"


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
        """The bootable image."""
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
        """Tell whether this CONFIG_ option is built in; False for a kernel that is not built."""
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
    # kbuild's KCFLAGS.
    cflags: str = ""

    @property
    def config_key(self) -> str:
        """The key of fragments, compiler and flags."""
        more = [self.cflags] if self.cflags else []
        options = kconfig.options(self.fragments)
        return digest(self.arch.name, self.toolchain.version, options, *more)

    @property
    def objdir(self) -> Path:
        """The O= directory, directly inside the tree."""
        return self.tree.path / f"{OBJDIR_PREFIX}{self.arch.name}-{self.config_key}"

    @property
    def title(self) -> str:
        """The title for messages."""
        return f"{self.arch.name} {self.tree.label} kernel"


def llvm_program(name: str, llvm: str) -> str:
    """Return the program that kbuild runs with this LLVM=."""
    return f"{llvm}{name}" if llvm.endswith("/") else f"{name}{llvm if llvm[0] == '-' else ''}"


def toolchain(arch: Architecture, cross_compile: str | None = None, llvm: str = "") -> Toolchain:
    """Find the compiler for `arch`; if it is missing, UserError names its package."""
    native = platform.machine() == arch.machine
    prefix = cross_compile if cross_compile is not None else "" if native else arch.cross_compile
    compiler = f"{prefix}gcc"
    if not shutil.which(compiler):
        packages = ("gcc", "libc6-dev") if native else arch.cross_packages
        remedy = f"apt-get install {' '.join(packages)}\nor name another with CROSS_COMPILE="
        what = f"{compiler}, the compiler for {arch.name}, is not installed"
        raise UserError(what, remedy=remedy)
    programs = [llvm_program(name, llvm) for name in LLVM_PROGRAMS] if llvm else []
    if lacking := [name for name in programs if not shutil.which(name)]:
        names = " ".join(llvm_program(n, llvm if llvm[0] == "-" else "1") for n in LLVM_PACKAGES)
        remedy = f"apt-get install {names}\nor name another with LLVM="
        what = f"LLVM={llvm} is incomplete: {', '.join(lacking)} missing"
        raise UserError(what, remedy=remedy)
    tools = Toolchain(prefix, "", llvm)
    return replace(tools, version=process.first_line(tools.compiler, "--version"))


def build(cache: Cache, request: Request, tick: Callable[[int], None] | None = None) -> Kernel:
    """Build the kernel if necessary. `tick` gets the number of finished make steps.

    BuildFailed with the first error line and the path of the log. Finished objects are kept for the
    next attempt, unless the disk is full.
    """
    objdir = request.objdir
    with cache.lock("kernel", f"{request.tree.key}-{objdir.name}"):
        if not (objdir / BUILT).is_file():
            log = log_file(cache, "kernel", request)
            _prepare(request)
            image = make_command(cache, request, request.arch.image_target, log=log)
            try:
                _configure(cache, request, log)
                what = f"the {request.title} did not build"
                compile(image, what, (lambda: tick(steps(log))) if tick else None)
            except (BuildFailed, KeyboardInterrupt, OSError):
                # make has exited and removed its incomplete targets.
                (objdir / BUILDING).unlink(missing_ok=True)
                if _disk_was_full(log):
                    # Files that make considers complete are truncated.
                    shutil.rmtree(objdir, ignore_errors=True)
                raise
            _finish(request)
    return load(request)


def configure(cache: Cache, request: Request) -> Path:
    """Resolve the configuration without building a kernel. BuildFailed as for build()."""
    with cache.lock("kernel", f"{request.tree.key}-{request.objdir.name}"):
        request.objdir.mkdir(exist_ok=True)
        _configure(cache, request, log_file(cache, "config", request))
    return request.objdir / ".config"


def make_command(cache: Cache, request: Request, *targets: str, log: Path | None = None) -> Command:
    """Return the kbuild command, as typed by hand.

    With ccache, trees share objects with the same preprocessed source and options, whatever their
    paths. Without it, every object is compiled.
    """
    tools, env = request.toolchain, dict(REPRODUCIBLE)
    argv = ["make", f"-j{request.jobs}", f"ARCH={request.arch.kbuild}"]
    if tools.llvm:
        argv.append(f"LLVM={tools.llvm}")
    elif tools.cross_compile:
        argv.append(f"CROSS_COMPILE={tools.cross_compile}")
    if shutil.which(CCACHE):
        host = tools.compiler if tools.llvm else "gcc"
        argv += [f"CC={CCACHE} {tools.compiler}", f"HOSTCC={CCACHE} {host}"]
        # Paths below the base directory count as relative. Not in depend mode (CCACHE_DEPEND): it
        # does not see .incbin, and an image would contain another tree's vDSO.
        root = str(cache.root)
        env |= {"CCACHE_DIR": f"{root}/{CCACHE}", "CCACHE_BASEDIR": root}
    argv += [f"KCFLAGS={request.cflags}"] if request.cflags else []
    argv += [f"O={request.objdir.name}", "LOCALVERSION=", *targets]
    return Command(argv, cwd=request.tree.path, env=env, log=log)


def merge_command(tree: Path, objdir: str, fragments: Sequence[Path], log: Path) -> Command:
    """Add the fragments to the configuration in an O= directory, between two targets of kbuild."""
    merge = ["scripts/kconfig/merge_config.sh", "-m", "-O", objdir, f"{objdir}/.config"]
    merge += [str(path.resolve()) for path in fragments]
    return Command(merge, cwd=tree, log=log)


def steps(log: Path) -> int:
    """Count the finished make steps in the log."""
    return len(STEP.findall(log.read_bytes())) if log.exists() else 0


def log_file(cache: Cache, kind: str, request: Request) -> Path:
    """Return the log of a kernel, whose make steps are counted; several kernels may be built at a
    time."""
    return cache.log(f"{kind}-{request.tree.label}-{request.tree.key}-{request.objdir.name}")


def _prepare(request: Request) -> None:
    """An O= directory without incomplete targets."""
    objdir = request.objdir
    if (objdir / BUILDING).exists():
        # quire and make were killed.
        shutil.rmtree(objdir)
    objdir.mkdir(exist_ok=True)
    (objdir / BUILDING).write_text("")


def _configure(cache: Cache, request: Request, log: Path) -> None:
    objdir = request.objdir
    if (objdir / ".config").is_file() and (objdir / "include/config/auto.conf").is_file():
        return
    first, last = (
        make_command(cache, request, target, log=log) for target in ("allnoconfig", "olddefconfig")
    )
    merge = merge_command(request.tree.path, objdir.name, request.fragments, log)
    for command in (first, merge, last):
        compile(command, f"the {request.title} did not build")
    config = objdir / ".config"
    if request.strict:
        kconfig.require(request.fragments, config)
        return
    lost = kconfig.lost(request.fragments, kconfig.parse(config.read_text()))
    if lost:
        names = ", ".join(option.option for option in lost[:NAMED])
        names += f" and {len(lost) - NAMED} more" if len(lost) > NAMED else ""
        what = f"{len(lost)} options of {request.fragments[0].name} and others"
        version = request.tree.base.version
        print(f"quire: {what} were lost in Linux {version}: {names}", file=sys.stderr)


def compile(command: Command, what: str, tick: Callable[[], None] | None = None) -> None:
    """Run make or a compiler with a log. On failure, explain() `what` did not build."""
    if process.run(command, tick).status:
        raise explain(what, command)


def explain(what: str, command: Command) -> BuildFailed:
    """Return the error for a failed make: its first `error:` line, the log, the command."""
    log = command.log or Path()
    if _disk_was_full(log):
        remedy = "free some space (a demo needs 4 GB), or name another build directory with O=DIR"
        return BuildFailed(f"no space left on the device: {what}", f"whole log: {log}", remedy)
    text = log.read_text(errors="replace")
    error = re.search(r"^.*(?:\berror:|\bError:|\*\*\* ).*$", text, re.M)
    first = error[0].strip() if error else process.tail(log, 3)
    remedy = "fix the source or the configuration; the next run continues where make stopped"
    return BuildFailed(what, f"{first}\nwhole log: {log}\ncommand: {command.text()}", remedy)


def _disk_was_full(log: Path) -> bool:
    return log.exists() and "No space left on device" in log.read_text(errors="replace")


def _finish(request: Request) -> None:
    sha = sha256(request.objdir / request.arch.image)
    record = {"image_sha256": sha, "compiler": request.toolchain.version}
    new = request.objdir / f"{BUILT}.new"
    new.write_text(json.dumps(record) + "\n")
    new.replace(request.objdir / BUILT)
    (request.objdir / BUILDING).unlink(missing_ok=True)


def load(request: Request) -> Kernel:
    """Return the requested kernel; without a hash if it is not built."""
    built = request.objdir / BUILT
    sha = json.loads(built.read_text())["image_sha256"] if built.is_file() else ""
    arch, tree, tools = request.arch, request.tree, request.toolchain
    return Kernel(arch, tree, request.config_key, tools, request.objdir, sha)

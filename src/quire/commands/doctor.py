# SPDX-License-Identifier: GPL-2.0
"""List what this host has and lacks, and the command that installs what is missing.

quire doctor               both architectures
quire doctor ARCH=arm64    the requirements of one
quire doctor --install     install what is missing (root, Debian)
"""

import argparse
import json
import shutil
from collections.abc import Callable
from functools import partial
from pathlib import Path

from quire.arch import Architecture, requirements
from quire.boot import counter
from quire.commands import options
from quire.host.errors import QuireError, UserError
from quire.kernels import guest, kernel
from quire.package import deb
from quire.programs import rootfs
from quire.session import Session
from quire.source import line
from quire.source import series as series_files


def add_arguments(part: argparse.ArgumentParser) -> None:
    """Add the option to install, and the selection."""
    part.add_argument("--install", action="store_true", help="install what is missing")
    options.base(part)
    options.as_json(part)
    part.set_defaults(words=("ARCH", "CROSS_COMPILE"))


def run(session: Session, arguments: argparse.Namespace) -> None:
    """Check this host. UserError if something is missing."""
    wanted = [*requirements.needs(session.architectures), *requirements.DEVELOPMENT, *deb.NEEDS]
    wanted += rootfs.NEEDS
    wanted += [filesystem.mkfs for filesystem in guest.FILESYSTEMS]
    if arguments.install:
        requirements.bring(wanted)
    lines = [(need.name, need.present(), need.purpose) for need in wanted]
    errors: list[QuireError] = []

    def look(name: str, detail: Callable[[], str]) -> None:
        try:
            lines.append((name, True, detail()))
        except QuireError as error:
            errors.append(error)
            lines.append((name, False, error.what))

    for arch in session.architectures:
        if arch.qemu:
            look(f"{arch.qemu} with plugins", partial(_qemu, arch))
        else:
            look(f"{arch.name} on this host", partial(_uml, arch))
        look(f"{arch.name} compiler", partial(_compiler, session, arch))
    look("disk space", partial(_disk, session.cache.root))
    look("series", partial(_series, session))
    if arguments.json:
        rows = [{"name": name, "ok": ok, "detail": text} for name, ok, text in lines]
        print(json.dumps(rows, indent=1))
    else:
        for name, ok, text in lines:
            print(f"{'ok     ' if ok else 'MISSING'} {name:<36} {text}")
    lacking = [need for need in wanted if not need.present()]
    if lacking:
        raise requirements.lacks(lacking)
    if errors:
        raise errors[0]


def _qemu(arch: Architecture) -> str:
    installed = counter.installed(arch)
    return f"{installed}, plugin interface {installed.plugin_api}"


def _uml(arch: Architecture) -> str:
    requirements.require_uml(arch)
    return f"ptrace, {requirements.MEMORY}, {requirements.MAPS.name}"


def _compiler(session: Session, arch: Architecture) -> str:
    return kernel.toolchain(arch, session.cross_compile).version


def _disk(root: Path) -> str:
    place = next(path for path in (root, *root.parents) if path.exists())
    free = shutil.disk_usage(place).free / 2**30
    if free < requirements.DISK_GIB and not root.exists():
        raise UserError(
            f"only {free:.1f} GiB are free; a demo takes {requirements.DISK_GIB}",
            str(place),
            "free some space, or name another build directory with O=DIR",
        )
    return f"{free:.0f} GiB free in {place}"


def _series(session: Session) -> str:
    known = line.named(session.project.root, session.side_options.base)
    if not known.series:
        return f"none for {known.name}"
    variants = series_files.variants(known.series)
    return "; ".join(f"{s.file.name} for {s.versions}: {len(s.patches)} patches" for s in variants)

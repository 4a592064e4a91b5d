# SPDX-License-Identifier: GPL-2.0
"""List what this host has, what it lacks, and the command that installs it.

quire doctor               both architectures
quire doctor ARCH=arm64    the requirements of one
quire doctor --install     install what is missing (root, Debian)
"""

import argparse
import json
import shutil
from pathlib import Path

from quire.arch import Architecture, requirements
from quire.boot import counter
from quire.build import kernel
from quire.host.errors import QuireError, UserError
from quire.package import deb
from quire.session import Session
from quire.source import line
from quire.source import series as series_files


def add_arguments(part: argparse.ArgumentParser) -> None:
    """Add the option to install."""
    part.add_argument("--install", action="store_true", help="install what is missing")
    part.add_argument("--json", action="store_true", help="print JSON")


def run(session: Session, arguments: argparse.Namespace) -> int:
    """Exit status 2 when something is missing."""
    wanted = [*requirements.needs(session.architectures), *requirements.DEVELOPMENT, *deb.NEEDS]
    if arguments.install:
        requirements.bring(wanted)
    lines = [(need.name, need.present(), need.purpose) for need in wanted]
    errors: list[QuireError] = []
    for arch in session.architectures:
        lines.append(_try(errors, f"{arch.qemu} with plugins", lambda a=arch: _qemu(a)))
        lines.append(
            _try(errors, f"{arch.name} compiler", lambda a=arch: kernel.toolchain(a).version)
        )
    lines.append(_try(errors, "disk space", lambda: _disk(session.cache.root)))
    lines.append(_try(errors, "series", lambda: _series(session)))
    if arguments.json:
        print(
            json.dumps([{"name": n, "ok": ok, "detail": text} for n, ok, text in lines], indent=1)
        )
    else:
        for name, ok, text in lines:
            print(f"{'ok     ' if ok else 'MISSING'} {name:<36} {text}")
    lacking = [need for need in wanted if not need.present()]
    if lacking:
        raise requirements.lacks(lacking)
    if errors:
        raise errors[0]
    return 0


def _qemu(arch: Architecture) -> str:
    found = counter.installed(arch)
    return f"{found}, plugin interface {found.plugin_api}"


def _disk(root: Path) -> str:
    place = root
    while not place.exists():
        place = place.parent
    free = shutil.disk_usage(place).free / 2**30
    if free < requirements.DISK_GIB and not root.exists():
        raise UserError(
            f"only {free:.1f} GiB are free, a demo takes {requirements.DISK_GIB}",
            str(place),
            "free some, or name another build directory with O=DIR",
        )
    return f"{free:.0f} GiB free in {place}"


def _series(session: Session) -> str:
    where = line.named(session.project.root, session.side_options.base)
    if not where.series:
        return f"none for {where.name}"
    found = series_files.variants(where.series)
    return "; ".join(f"{s.file.name} for {s.versions}: {len(s.patches)} patches" for s in found)


def _try(errors: list[QuireError], name: str, look: object) -> tuple[str, bool, str]:
    assert callable(look)
    try:
        return name, True, str(look())
    except QuireError as error:
        errors.append(error)
        return name, False, error.what

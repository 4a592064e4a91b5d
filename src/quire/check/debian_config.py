# SPDX-License-Identifier: GPL-2.0
"""The configuration of Debian's kernel for an architecture: package linux-config."""

from __future__ import annotations

import re
from pathlib import Path

from quire.arch import Architecture
from quire.build import kconfig
from quire.host import process
from quire.host.cache import Cache
from quire.host.errors import UserError
from quire.source import base, debian
from quire.source.base import Base
from quire.source.debian import Offer
from quire.source.line import Line

_ORIGIN = re.compile(r"Debian linux-source-\S+ (\S+)")


def of(cache: Cache, line: Line, of_base: Base, arch: Architecture) -> dict[str, str]:
    """The options and values of Debian's kernel of exactly this version, cached or through apt.

    UserError if Debian does not, or no longer, offer it.
    """
    package = base.packages(line).config
    wanted = _wanted(of_base)

    def build(directory: Path) -> None:
        file, _ = debian.fetch(_find(cache, line, wanted, arch), directory)
        process.needs_results("the next commands depend on the package")
        name = f"usr/src/{package}/config.{arch.debian}_none_{arch.debian}.xz"
        (directory / "config").write_text(debian.member(file, name))
        file.unlink()

    entry = cache.make("debian-config", f"{base.safe(wanted)}-{arch.debian}", build)
    return kconfig.parse((entry / "config").read_text())


def _wanted(of_base: Base) -> str:
    """The Debian version of the base; for a user's own tree, the kernel version."""
    found = _ORIGIN.match(of_base.origin)
    return found[1] if found else str(of_base.version)


def _find(cache: Cache, line: Line, wanted: str, arch: Architecture) -> Offer:
    """Ask the system's apt first, as for a base."""
    known_as = base.packages(line)
    package = known_as.config
    known = debian.offers(package, debian.for_architecture(arch.debian))
    fitting = _fitting(known, wanted)
    if not fitting:
        apt = debian.isolated(
            base.apt_state(cache, line, arch.debian), known_as.suites, arch.debian
        )
        known = debian.offers(package, apt)
        fitting = _fitting(known, wanted)
    if not fitting:
        raise UserError(
            f"Debian offers no {package} for {arch.debian} that is {wanted}",
            "offered: " + (", ".join(offer.version for offer in known) or "nothing"),
            "compare a base of one of these versions: --base VERSION",
        )
    return fitting[0]


def _fitting(known: list[Offer], wanted: str) -> list[Offer]:
    return [offer for offer in known if wanted in (offer.version, offer.kernel)]

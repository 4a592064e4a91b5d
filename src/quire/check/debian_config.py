# SPDX-License-Identifier: GPL-2.0
"""The configurations of Debian's kernels for an architecture: package linux-config.

A flavour has the name that Debian's image packages end with: linux-image-6.12.117-cloud-amd64 is
of the flavour cloud-amd64, linux-image-6.12.117-rt-amd64 of rt-amd64.
"""

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


def of(
    cache: Cache, line: Line, of_base: Base, arch: Architecture, flavour: str = ""
) -> dict[str, str]:
    """The options and values of Debian's kernel of exactly this version, cached or through apt.

    Without a `flavour`, those of the kernel that Debian installs by default. UserError if Debian
    does not, or no longer, offer it.
    """
    package = base.packages(line).config
    wanted = _wanted(of_base)
    flavour = flavour or arch.debian

    def build(directory: Path) -> None:
        file, _ = debian.fetch(_find(cache, line, wanted, arch), directory)
        process.needs_results("the next commands depend on the package")
        name = _member(file, f"usr/src/{package}", arch, flavour)
        (directory / "config").write_text(debian.member(file, name))
        file.unlink()

    suffix = "" if flavour == arch.debian else f"-{flavour}"
    key = f"{base.safe(wanted)}-{arch.debian}{suffix}"
    entry = cache.make("debian-config", key, build)
    return kconfig.parse((entry / "config").read_text())


def _member(package: Path, directory: str, arch: Architecture, flavour: str) -> str:
    """The name of a flavour's file: config.ARCH_FEATURES_FLAVOUR.xz. UserError if there is none."""
    known = {}
    for name in debian.members(package):
        if found := re.fullmatch(rf"{directory}/config\.{arch.debian}_(\w+)_([\w-]+)\.xz", name):
            features = "" if found[1] == "none" else f"{found[1]}-"
            known[features + found[2]] = name
    if flavour not in known:
        raise UserError(
            f"Debian has no flavour {flavour} of this kernel for {arch.debian}",
            f"it has: {', '.join(sorted(known)) or 'none'}",
            "name one of these, or a configuration of your own: --config FILE",
        )
    return known[flavour]


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

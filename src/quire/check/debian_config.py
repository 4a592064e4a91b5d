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
from quire.host.cache import Cache
from quire.host.errors import UserError
from quire.source import base as bases
from quire.source import debian
from quire.source.base import Base
from quire.source.debian import Offer
from quire.source.line import Line

_ORIGIN = re.compile(r"Debian linux-source-\S+ (\S+)")


def fetch(
    cache: Cache, line: Line, base: Base, arch: Architecture, flavour: str = ""
) -> dict[str, str]:
    """The options and values of Debian's kernel of exactly this version, cached or through apt.

    Without a `flavour`, those of the kernel that Debian installs by default. UserError if Debian
    does not, or no longer, offer it.
    """
    package = bases.packages(line).config
    # The Debian version of the base; for a user's own tree, the kernel version.
    origin = _ORIGIN.match(base.origin)
    wanted = origin[1] if origin else str(base.version)
    flavour = flavour or arch.debian

    def build(directory: Path) -> None:
        with bases.apt_state(cache, line, arch.debian) as state:
            file, _ = debian.fetch(_find(line, wanted, arch, state), directory)
        name = _member(file, f"usr/src/{package}", arch, flavour)
        (directory / "config").write_text(debian.member(file, name))
        file.unlink()

    suffix = "" if flavour == arch.debian else f"-{flavour}"
    key = f"{bases.safe(wanted)}-{arch.debian}{suffix}"
    entry = cache.make("debian-config", key, build)
    return kconfig.parse((entry / "config").read_text())


def _member(package: Path, directory: str, arch: Architecture, flavour: str) -> str:
    """The name of a flavour's file: config.ARCH_FEATURES_FLAVOUR.xz. UserError if there is none."""
    known = {}
    for name in debian.members(package):
        if match := re.fullmatch(rf"{directory}/config\.{arch.debian}_(\w+)_([\w-]+)\.xz", name):
            features = "" if match[1] == "none" else f"{match[1]}-"
            known[features + match[2]] = name
    if flavour not in known:
        raise UserError(
            f"Debian has no flavour {flavour} of this kernel for {arch.debian}",
            f"it has: {', '.join(sorted(known)) or 'none'}",
            "name one of these, or a configuration of your own: --config FILE",
        )
    return known[flavour]


def _find(line: Line, wanted: str, arch: Architecture, state: Path) -> Offer:
    """The package of that version. Ask the system's apt first, as for a base."""
    packages, known = bases.packages(line), list[Offer]()
    for isolated in (False, True):
        apt = debian.for_architecture(arch.debian)
        if isolated:
            apt = debian.isolated(state, packages.suites, arch.debian)
        known = debian.offers(packages.config, apt)
        for offer in known:
            if wanted in (offer.version, offer.kernel):
                return offer
    raise UserError(
        f"Debian offers no {packages.config} for {arch.debian} that is {wanted}",
        "offered: " + (", ".join(offer.version for offer in known) or "nothing"),
        "compare a base of one of these versions: --base VERSION",
    )

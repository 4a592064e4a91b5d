# SPDX-License-Identifier: GPL-2.0
"""Compare our configurations with Debian's: every difference needs a reason, in
lines/debian-differences.toml or in the line's own file."""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from pathlib import Path

from quire.arch import Architecture, architecture
from quire.check.series_check import Check
from quire.host import data
from quire.host.cache import Cache
from quire.host.errors import UserError
from quire.kernels import kconfig, kernel
from quire.kernels.kernel import Request
from quire.source import base as bases
from quire.source import debian
from quire.source.base import Base
from quire.source.debian import Offer
from quire.source.line import Line

FILE = "debian-differences.toml"
# The Kconfig files whose options may cost instructions on a measured path.
ROOTS = tuple(
    "mm/Kconfig arch/Kconfig arch/{srcarch}/Kconfig security/Kconfig lib/Kconfig.debug "
    "init/Kconfig drivers/block/zram/Kconfig".split()
)
# Files sourced by these are read if their path has one of these prefixes.
FOLLOWED = tuple(
    "mm/ arch/{srcarch}/ security/ lib/ kernel/Kconfig.hz kernel/Kconfig.locks "
    "kernel/Kconfig.preempt kernel/rcu/ kernel/time/ kernel/trace/".split()
)
_DEFINED = re.compile(r"^\s*(?:menu)?config\s+([A-Z0-9_]+)\s*$", re.M)
_SOURCED = re.compile(r'^\s*o?source\s+"([^"]+)"', re.M)
# In the field `ours`: do not compare; the option is neither a difference nor stale.
ANY = "any"


@dataclass(frozen=True)
class Differing:
    """An option with a value other than Debian's."""

    option: str
    ours: str
    debian: str


@dataclass(frozen=True)
class Listed:
    """One entry: the options (patterns) that differ, our value or `any`, and the reason."""

    options: tuple[str, ...]
    architectures: tuple[str, ...]
    ours: str
    why: str

    def covers(self, arch: Architecture, difference: Differing) -> bool:
        """Tell whether the entry covers this difference on this architecture."""
        return (
            arch.name in self.architectures
            and self.ours in (ANY, difference.ours)
            and any(fnmatchcase(difference.option, pattern) for pattern in self.options)
        )


def check(cache: Cache, line: Line, base: Base, request: Request) -> Iterator[Check]:
    """Compare the resolved configuration of the stock kernel `request` with Debian's."""
    arch, tree = request.arch, request.tree.path
    lines = [entry for file in line.differences for entry in read(file)]
    compared = options(tree, arch.srcarch, ROOTS, FOLLOWED)
    ours = kconfig.parse(kernel.configure(cache, request).read_text())
    debians = fetch(cache, line, base, arch)
    yield from judge(arch, differences(compared, ours, debians), lines)


def read(file: Path) -> list[Listed]:
    """Read the entries of the file; none if it does not exist. UserError for an invalid entry or an
    unknown architecture."""
    remedy = "give each [[difference]] options, architectures, ours and why"
    listed = data.Table("difference", Listed, remedy, optional=True).read(file)
    for name in {name for line in listed for name in line.architectures}:
        architecture(name)
    return listed


def options(tree: Path, srcarch: str, roots: Sequence[str], followed: Sequence[str]) -> set[str]:
    """Collect the CONFIG_ names of all options in the files `roots` and in files that they source,
    directly or indirectly, whose path begins with one of `followed`. {srcarch} in both is the
    directory below arch/. UserError for a missing root.
    """
    prefixes = tuple(text.format(srcarch=srcarch) for text in followed)
    waiting = [text.format(srcarch=srcarch) for text in roots]
    for name in waiting:
        if not (tree / name).is_file():
            what = "the kernel tree lacks a Kconfig file"
            raise UserError(what, str(tree / name), "use a complete tree")
    seen: set[str] = set()
    defined: set[str] = set()
    while waiting:
        name = waiting.pop()
        if name not in seen and (tree / name).is_file():
            seen.add(name)
            text = (tree / name).read_text(errors="replace")
            defined.update(f"CONFIG_{option}" for option in _DEFINED.findall(text))
            sourced = [path.replace("$(SRCARCH)", srcarch) for path in _SOURCED.findall(text)]
            waiting += [path for path in sourced if path.startswith(prefixes)]
    return defined


def differences(
    options: Collection[str], ours: Mapping[str, str], debians: Mapping[str, str]
) -> list[Differing]:
    """Find the `options` that differ. A module counts as built in: no modules are loaded here."""
    pairs = ((option, _value(ours, option), _value(debians, option)) for option in sorted(options))
    return [Differing(option, a, b) for option, a, b in pairs if _same_code(a) != _same_code(b)]


def judge(
    arch: Architecture, differing: Sequence[Differing], lines: Sequence[Listed]
) -> Iterator[Check]:
    """Report each unlisted difference, and each pattern that matches none."""
    check = f"configuration matches Debian's ({arch.name})"
    troubles = [
        Check(check, d.option, f"ours {d.ours}, Debian's {d.debian}: not in {FILE}")
        for d in differing
        if not any(line.covers(arch, d) for line in lines)
    ]
    for line in lines:
        if arch.name in line.architectures and line.ours != ANY:
            for pattern in line.options:
                alone = replace(line, options=(pattern,))
                if not any(alone.covers(arch, difference) for difference in differing):
                    what = f"{FILE} lists it as {line.ours}; the difference no longer exists"
                    troubles.append(Check(check, pattern, what))
    yield from troubles
    if not troubles:
        yield Check(check, f"{len(differing)} options differ, all with a reason")


def _value(options: Mapping[str, str], option: str) -> str:
    """The value; an option that is missing because of a dependency counts as not set."""
    value = options.get(option, "n")
    # Kconfig omits a string that cannot be set, and writes "" for an empty one.
    return "n" if value == '""' else value


def _same_code(value: str) -> str:
    return "y" if value == "m" else value


_ORIGIN = re.compile(r"Debian linux-source-\S+ (\S+)")


def fetch(
    cache: Cache, line: Line, base: Base, arch: Architecture, flavour: str = ""
) -> dict[str, str]:
    """Return the options of Debian's kernel of exactly this version, cached or through apt.

    Without a `flavour`, use the kernel that Debian installs by default. UserError if Debian does
    not (or no longer) offer it.
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
    """The file of a flavour: config.ARCH_FEATURES_FLAVOUR.xz. UserError if there is none."""
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
    """The package of that version. The system's apt comes first, as for a base."""
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
        f"Debian offers no {packages.config} {wanted} for {arch.debian}",
        "offered: " + (", ".join(offer.version for offer in known) or "nothing"),
        "compare a base of one of these versions: --base VERSION",
    )

# SPDX-License-Identifier: GPL-2.0
"""Compare our configurations with Debian's: every difference has a reason, in
lines/NAME/debian-differences.toml."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path

from quire.arch import Architecture, architecture
from quire.build import kconfig, kernel
from quire.build.kernel import Request
from quire.check import debian_config, kconfig_files
from quire.check.series_check import Check
from quire.host import data, process
from quire.host.cache import Cache
from quire.source.base import Base
from quire.source.line import Line

FILE = "debian-differences.toml"
# The Kconfig files whose options may cost instructions on a measured path.
ROOTS = (
    "mm/Kconfig",
    "arch/Kconfig",
    "arch/{srcarch}/Kconfig",
    "security/Kconfig",
    "lib/Kconfig.debug",
    "init/Kconfig",
    "drivers/block/zram/Kconfig",
)
FOLLOWED = (
    "mm/",
    "arch/{srcarch}/",
    "security/",
    "lib/",
    "kernel/Kconfig.hz",
    "kernel/Kconfig.locks",
    "kernel/Kconfig.preempt",
    "kernel/rcu/",
    "kernel/time/",
    "kernel/trace/",
)
# In the field `ours`: do not compare, so that the option is neither a difference nor stale.
ANY = "any"


@dataclass(frozen=True)
class Differing:
    """An option whose value differs from Debian's."""

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
        """Whether the entry covers this difference on this architecture."""
        return (
            arch.name in self.architectures
            and self.ours in (ANY, difference.ours)
            and any(fnmatchcase(difference.option, pattern) for pattern in self.options)
        )


def check(cache: Cache, line: Line, base: Base, request: Request) -> Iterator[Check]:
    """Compare the resolved configuration of the stock kernel `request` with Debian's."""
    arch, tree = request.arch, request.tree.path
    lines = read(line.differences)
    options = kconfig_files.options(tree, arch.srcarch, ROOTS, FOLLOWED)
    resolved = kernel.configure(cache, request)
    debians = debian_config.of(cache, line, base, arch)
    process.needs_results()
    ours = kconfig.parse(resolved.read_text())
    yield from judge(arch, differences(options, ours, debians), lines)


@dataclass(frozen=True)
class _File:
    difference: tuple[Listed, ...] = ()


def read(file: Path) -> list[Listed]:
    """The entries of the file; none if it does not exist. UserError names a wrong one, or an
    unknown architecture."""
    remedy = "give each [[difference]] options, architectures, ours and why"
    found = list(data.optional(file, _File, remedy).difference)
    data.require_complete(file, "difference", found, remedy)
    for name in {name for listed in found for name in listed.architectures}:
        architecture(name)
    return found


def differences(
    options: Collection[str], ours: Mapping[str, str], debians: Mapping[str, str]
) -> list[Differing]:
    """The `options` that differ. A module counts as built in: no modules are loaded here."""
    pairs = ((option, _value(ours, option), _value(debians, option)) for option in sorted(options))
    return [Differing(option, a, b) for option, a, b in pairs if _same_code(a) != _same_code(b)]


def judge(
    arch: Architecture, found: Sequence[Differing], lines: Sequence[Listed]
) -> Iterator[Check]:
    """Report each difference that is not listed, and each pattern that covers none."""
    check = f"configuration as Debian's ({arch.name})"
    troubles = [
        Check(check, each.option, f"ours {each.ours}, Debian's {each.debian}: not in {FILE}")
        for each in found
        if not any(line.covers(arch, each) for line in lines)
    ]
    troubles += [
        Check(check, pattern, f"{FILE} lists it as {line.ours}; the difference no longer exists")
        for line in lines
        for pattern in _stale(arch, line, found)
    ]
    yield from troubles
    if not troubles:
        yield Check(check, f"{len(found)} options differ, all with a reason")


def _stale(arch: Architecture, line: Listed, found: Sequence[Differing]) -> Iterator[str]:
    if arch.name not in line.architectures or line.ours == ANY:
        return
    for pattern in line.options:
        alone = Listed((pattern,), line.architectures, line.ours, line.why)
        if not any(alone.covers(arch, each) for each in found):
            yield pattern


def _value(options: Mapping[str, str], option: str) -> str:
    """The value; an option that is missing because of a dependency counts as not set."""
    value = options.get(option, "n")
    # Kconfig omits a string that cannot be set, and writes "" for an empty one.
    return "n" if value == '""' else value


def _same_code(value: str) -> str:
    return "y" if value == "m" else value

# SPDX-License-Identifier: GPL-2.0
"""Select what the boots of both sides count: instructions, and the sums in watch.toml.

A watched function must be a symbol. A function may be inlined on one side only, and calls of an
inlined function are not counted, so only functions that both sides have are compared.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from quire.boot import counter, counts, machine
from quire.boot.counter import SYMBOL
from quire.boot.counts import Stop
from quire.boot.machine import Counting
from quire.fuzz.language.program import Program
from quire.fuzz.runner import Probe, Targets
from quire.host import data
from quire.host.errors import GuestLost, UserError
from quire.kernels.kernel import Kernel
from quire.session import Session

FILE = Path(__file__).with_name("watch.toml")
_STOP = re.compile(r"^c (\d+)$", re.M)
_HANG = re.compile(r"^x hang ", re.M)
# Random stack offsets: every few hundred system calls, generating random numbers takes 2,800
# instructions.
PARAMETERS = ("randomize_kstack_offset=off",)
# The plugin's error for a region that is open when QEMU ends (counter/regions.c).
OPEN = "was started and never stopped"


@dataclass(frozen=True)
class Sum:
    """An entry of watch.toml. `only` has functions by the kernels that have them."""

    name: str
    counts: tuple[str, ...] = ()
    functions: tuple[str, ...] = ()
    only: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def expected(self, line: str, arch: str) -> set[str]:
        """Return the functions that a kernel of that line and architecture has."""
        applying = (names for key, names in self.only.items() if {*key.split()} <= {line, arch})
        return {*self.functions}.union(*applying)

    def value(self, cost: Stop) -> int:
        """Return the sum in an operation."""
        return sum(cost.counts.get(name, 0) for name in (*self.counts, *self.functions))


@dataclass(frozen=True)
class Watch:
    """The sums for two kernels; their functions are symbols of either, those that both have.

    `left_out`: only one has them, or neither if watch.toml does not know the line.
    """

    sums: tuple[Sum, ...]
    left_out: tuple[str, ...] = ()

    @property
    def symbols(self) -> tuple[str, ...]:
        return tuple(sorted({symbol for total in self.sums for symbol in total.functions}))


@dataclass(frozen=True)
class _WatchFile:
    lines: tuple[str, ...]
    watch: tuple[Sum, ...]


@cache
def read(file: Path = FILE) -> tuple[tuple[str, ...], tuple[Sum, ...]]:
    """Return the known lines, and the sums. UserError names the entry that is wrong."""
    found = data.read(file, _WatchFile, "the comment at its top explains the keys")
    for number, total in enumerate(found.watch):
        if not (total.counts or total.functions or total.only):
            raise UserError(f"{total.name} sums nothing", data.row(file, "watch", number))
    return found.lines, found.watch


def on_kernels(a: Kernel, b: Kernel, file: Path = FILE) -> Watch:
    """Return what is watched on two kernels. UserError for a function that both lack."""
    lines, sums = read(file)
    symbols = [functions(kernel) for kernel in (a, b)]
    either, both = symbols[0].keys() | symbols[1].keys(), symbols[0].keys() & symbols[1].keys()
    line, arch = b.tree.base.version.line, b.arch.guest
    summed: list[Sum] = []
    left_out: list[str] = []
    for total in sums:
        expected = total.expected(line, arch) if line in lines else set()
        missing = sorted(expected - either)
        if missing:
            what = f"no function {', '.join(missing)}, which is watched as {total.name!r}"
            remedy = f"it was renamed or inlined: update {file}"
            raise UserError(what, f"{a.system_map}\n{b.system_map}", remedy)
        wanted = expected or {*total.functions}.union(*total.only.values())
        left_out += sorted(wanted - both)
        variants = {symbol for known in symbols for name in wanted & both for symbol in known[name]}
        if total.counts or variants:
            summed.append(Sum(total.name, total.counts, tuple(sorted(variants))))
    return Watch(tuple(summed), tuple(left_out))


def functions(kernel: Kernel) -> dict[str, list[str]]:
    """Return the kernel's functions, each with the symbols that are variants of it."""
    variants: dict[str, list[str]] = {}
    for _, symbol in SYMBOL.findall(kernel.system_map.read_text()):
        variants.setdefault(function(symbol), []).append(symbol)
    return variants


def function(symbol: str) -> str:
    """Return the function of a symbol variant (`.part.0`), or the symbol."""
    return symbol.partition(".")[0] or symbol


def prepare(session: Session, targets: Targets) -> Watch:
    """Let both sides count, and return what is watched.

    BuildFailed if the plugin does not build, UserError if a watched function is missing.
    """
    plugin = counter.build(session.cache, session.project.counter, targets.arch)
    watched = on_kernels(targets.all[0].kernel, targets.tried.kernel)
    for target in targets.all:
        counting = Counting(plugin, stream=True, watch=watched.symbols)
        target.probe = Probe(counting, "cost", take, PARAMETERS)
    return watched


def take(directory: Path, _programs: Sequence[Program], whole: bool) -> Sequence[Stop]:
    """Return the stops of a boot; none if its guest was lost and QEMU had to be killed.

    GuestLost if the plugin found a mistake, left no counts, or counted otherwise than the executor.
    """
    file = directory / machine.COUNTS
    if not whole and (not file.exists() or not file.stat().st_size):
        return ()
    # A guest that is lost within an operation leaves the region open; the stream has the others.
    if whole or not file.read_text().rstrip().endswith(OPEN):
        counts.read(file)
    counted = counts.read_stops(directory / machine.STOPS)
    text = (directory / machine.RESULTS).read_text(errors="replace")
    named = _STOP.findall(text)
    executed = int(named[-1]) + 1 if named else 0
    # An operation that hangs is stopped, but has no number; nor has one with which the guest ends.
    unnamed = len(_HANG.findall(text))
    if executed > len(counted) or (whole and executed + unnamed < len(counted)):
        what = "the plugin and the executor counted different numbers of operations"
        where = f"{directory}: {len(counted)} and {executed}"
        raise GuestLost(what, where, "build everything from one checkout")
    return counted

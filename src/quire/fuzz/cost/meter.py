# SPDX-License-Identifier: GPL-2.0
"""How the boots of both sides count what each operation costs."""

import re
from collections.abc import Sequence
from pathlib import Path

from quire.boot import counter, counts, machine, qemu, stops
from quire.boot.machine import Counting
from quire.boot.stops import Stop
from quire.fuzz.cost import watch
from quire.fuzz.cost.watch import Watch
from quire.fuzz.language.program import Program
from quire.fuzz.runner import Probe, Targets
from quire.host.errors import GuestLost
from quire.session import Session

_STOP = re.compile(r"^c (\d+)$", re.M)
_HANG = re.compile(r"^x hang ", re.M)
# The random offset of each system call's stack: every some hundred calls it takes 2,800
# instructions to make new random numbers.
PARAMETERS = ("randomize_kstack_offset=off",)

# The plugin's complaint about a region that is open when QEMU ends (counter/regions.c).
OPEN = "was started and never stopped"


def prepare(session: Session, targets: Targets) -> Watch:
    """Let both sides count. The result is what is watched on them.

    BuildFailed if the plugin does not build, UserError if a watched function is missing.
    """
    plugin = counter.build(session.cache, session.project.counter, qemu.of(targets.arch))
    watched = watch.on_kernels(targets.all[0].kernel, targets.tried.kernel)
    for target in targets.all:
        counting = Counting(plugin, stream=True, watch=watched.symbols)
        target.probe = Probe(counting, "cost", take, PARAMETERS)
    return watched


def take(directory: Path, _programs: Sequence[Program], whole: bool) -> Sequence[Stop]:
    """The stops of a boot; none if its guest was lost and QEMU had to be killed.

    GuestLost if the plugin found a mistake, or left no counts of a whole boot, or counted another
    number of operations than the executor.
    """
    file = directory / machine.COUNTS
    if not whole and (not file.exists() or not file.stat().st_size):
        return ()
    # A guest that is lost within an operation leaves the region open; the stream has the others.
    if whole or not file.read_text().rstrip().endswith(OPEN):
        counts.read(file)
    counted = stops.read(directory / machine.STOPS)
    text = (directory / machine.RESULTS).read_text(errors="replace")
    named = _STOP.findall(text)
    executed = int(named[-1]) + 1 if named else 0
    # An operation that hangs is stopped, but has no number; nor has one with which the guest ends.
    unnamed = len(_HANG.findall(text))
    if executed > len(counted) or (whole and executed + unnamed < len(counted)):
        raise GuestLost(
            "the plugin and the executor counted different numbers of operations",
            f"{directory}: {len(counted)} and {executed}",
            "build plugin, guest and lab from one checkout",
        )
    return counted

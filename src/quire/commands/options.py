# SPDX-License-Identifier: GPL-2.0
"""Options that several commands share. Each command adds the ones that it uses."""

import argparse
import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from quire.arch import ARCHITECTURES, Architecture, further_cpus
from quire.cluster import option
from quire.host.errors import UserError
from quire.source import side
from quire.suites import suite

# Options that affect a run's output, speed and location, but not its results.
ALWAYS = {"verbose", "quiet", "jobs", "ARCH", "CROSS_COMPILE", "O"}


# Adds --cluster and --tls.
cluster = option.add


def common(part: argparse.ArgumentParser) -> None:
    """Add the common options, and defaults for attributes every session reads."""
    group = part.add_argument_group("common options")
    add = group.add_argument
    add("-v", "--verbose", action="store_true", help="print each command as it runs")
    add("-q", "--quiet", action="store_true", help="no progress on stderr")
    # An option added later takes its default from set_defaults().
    part.set_defaults(jobs=len(os.sched_getaffinity(0)), config=[], words=())
    part.set_defaults(emulated="")


def kernel(part: argparse.ArgumentParser) -> None:
    """Add the options that define two sides and how their kernels are built."""
    text = "an additional Kconfig fragment, such as configs/debug.config"
    add = sides(part).add_argument
    add("--config", type=Path, action="append", default=[], metavar="FRAGMENT", help=text)


def sides(part: argparse.ArgumentParser) -> argparse._ArgumentGroup:
    """Add the trees of both sides and kbuild's words; return the first group."""
    kernels, pair = side_a(part)
    jobs(kernels)
    text = "side B: a kernel tree, or a revision"
    pair.add_argument("--b", default="", metavar="SIDE", help=text)
    part.set_defaults(words=("ARCH", "CROSS_COMPILE", "LLVM"))
    return kernels


def side_a(
    part: argparse.ArgumentParser,
) -> tuple[argparse._ArgumentGroup, argparse._ArgumentGroup]:
    """Add one tree and its series; return the groups of our sides and of a user's own."""
    kernels = part.add_argument_group("the kernel")
    base(kernels)
    text = "a kernel tree to use instead of Debian's; it is copied, not changed"
    kernels.add_argument("--source", type=Path, metavar="DIR", help=text)
    only(kernels)
    pair = part.add_argument_group("two sides of your own")
    text = "apply this to side A to make side B: a mailbox, a quilt series, a directory of patches"
    pair.add_argument("--series", type=Path, metavar="PATH", help=text)
    thread(pair)
    text = "side A: a kernel tree, or a revision"
    pair.add_argument("--a", default="", metavar="SIDE", help=text)
    text = "the repository with the revisions --a and --b"
    pair.add_argument("--git", type=Path, metavar="DIR", help=text)
    text = "use this line's configuration (default: by the version of the trees)"
    pair.add_argument("--line", default="", metavar="NAME", help=text)
    return kernels, pair


def thread(part: argparse._ActionsContainer) -> None:
    """Add --version and --partial, for a series that is a thread of mails."""
    text = "version of the series in a thread of mails (default: the newest)"
    part.add_argument("--version", type=positive, default=0, metavar="N", help=text)
    text = "accept a thread of mails with missing patches"
    part.add_argument("--partial", action="store_true", help=text)


def configuration(part: argparse.ArgumentParser) -> None:
    """Add the options for building one tree, and kbuild's words."""
    add = part.add_argument
    add("--line", default="", metavar="NAME", help="use this line's configuration")
    text = "an additional Kconfig fragment"
    add("--config", type=Path, action="append", default=[], metavar="FRAGMENT", help=text)
    jobs(part)
    part.set_defaults(words=("ARCH", "CROSS_COMPILE"))


def base(part: argparse._ActionsContainer) -> None:
    """Add --base."""
    text = "Debian's linux-source: 6.12 (the newest 6.12.y), 6.12.94 (exactly), 7.3"
    part.add_argument("--base", default=side.DEFAULT_BASE, metavar="VERSION", help=text)


def only(part: argparse._ActionsContainer) -> None:
    """Add --only."""
    text = "apply only this topic (mremap, ksm, …) and what it needs; may be repeated"
    part.add_argument("--only", action="append", default=[], metavar="TOPIC", help=text)


def jobs(part: argparse._ActionsContainer) -> None:
    """Add -j."""
    text = "parallel processes, as make's -j (default: all CPUs, %(default)s)"
    part.add_argument("-j", "--jobs", type=positive, metavar="N", help=text)


def emulated(part: argparse.ArgumentParser, why: str) -> None:
    """Refuse kernels without an emulator; `does` says what the command does."""
    part.set_defaults(emulated=why)


def counting(part: argparse.ArgumentParser) -> None:
    """Refuse architectures on which instructions cannot be counted."""
    part.set_defaults(emulated="counts instructions in QEMU", counting=True)


def require_emulated(arguments: argparse.Namespace, architectures: Sequence[Architecture]) -> None:
    """Refuse an architecture without an emulator, or one whose instructions the plugin does not
    decode, if the command needs them. Raises UserError."""
    if vars(arguments).get("program"):
        # Without an emulator, whole programs are timed.
        architectures = [arch for arch in architectures if arch.qemu]
    if arguments.emulated:
        refuse_programs(architectures, f"{arguments.part.prog} {arguments.emulated}")
    names = [arch.name for arch in architectures if not arch.event_kinds]
    if names and "counting" in arguments:
        raise other_architecture(f"the plugin does not decode instructions of {', '.join(names)}")


def refuse_programs(architectures: Sequence[Architecture], what: str) -> None:
    """Refuse kernels that are programs of this host, since the command does `what`: UserError."""
    names = [arch.name for arch in architectures if not arch.qemu]
    if names:
        raise other_architecture(f"{what}: impossible with ARCH={','.join(names)}")


def other_architecture(what: str) -> UserError:
    """Return the error for an architecture that a command does not support."""
    return UserError(what, remedy=f"use one of: ARCH={' ARCH='.join(ARCHITECTURES)}")


def as_json(part: argparse.ArgumentParser, help: str = "print JSON") -> None:
    """Add --json."""
    part.add_argument("--json", action="store_true", help=help)


def sizes(part: argparse.ArgumentParser, default: str) -> None:
    """Add --size."""
    text = f"folio size in KiB, 4 for none; may be repeated (default: {default})"
    part.add_argument("--size", type=int, action="append", default=[], metavar="KIB", help=text)


def null(part: argparse.ArgumentParser) -> None:
    """Add --null."""
    text = "also count N kernels of side A that differ only in code placement (at most 8), and "
    text += "show the spread beside each change"
    part.add_argument("--null", type=positive, default=0, metavar="N", help=text)


def stock(part: argparse._ActionsContainer) -> None:
    """Add --stock. Callers must also call require_series()."""
    part.add_argument("--stock", action="store_true", help="use the base, without the series")


def cpus(part: argparse.ArgumentParser, default: int) -> None:
    """Add --smp and --cpu."""
    text = "virtual CPUs (default %(default)s)"
    part.add_argument("--smp", type=positive, default=default, metavar="N", help=text)
    text = "emulate a CPU other than the architecture's default: " + ", ".join(further_cpus())
    part.add_argument("--cpu", metavar="NAME", help=text)


def timeout(part: argparse.ArgumentParser) -> None:
    """Add --timeout, for a boot that runs tests."""
    text = "treat the guest as hung after this time (default %(default).0f)"
    add = part.add_argument
    add("--timeout", type=float, default=suite.TIMEOUT, metavar="SECONDS", help=text)


def positive(text: str) -> int:
    """Parse a positive number."""
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError("must be at least 1")
    return number


def refuse(arguments: argparse.Namespace, names: str, where: str) -> None:
    """Refuse the options `names`, which have no effect `where`: UserError."""
    useless = [text for name, text in _given(arguments).items() if name in names.split()]
    if useless:
        raise UserError(f"{', '.join(useless)} has no effect {where}", remedy="omit it")


def allow(arguments: argparse.Namespace, names: str, where: str) -> None:
    """Refuse options other than `names`, which have no effect `where`: UserError."""
    others = _given(arguments).keys() - {*names.split(), *ALWAYS}
    refuse(arguments, " ".join(others), where)


def require_series(arguments: argparse.Namespace) -> None:
    """Refuse --stock together with an option that selects a series: UserError."""
    if arguments.stock:
        refuse(arguments, "only series", "with --stock")


def check(arguments: argparse.Namespace) -> None:
    """Refuse a kbuild word or a base that the command does not use: UserError."""
    if "source" in arguments and (arguments.source or arguments.a):
        refuse(arguments, "base", "with a tree of your own (--source, --a)")
    unused = [name for name in arguments.given if name not in (*arguments.words, "O")]
    refuse(arguments, " ".join(unused), f"for {arguments.part.prog}")


def _given(arguments: argparse.Namespace) -> dict[str, str]:
    """Return the options that were changed: attribute name and the user's spelling."""
    given = {name: f"{name}=" for name in arguments.given}
    for action in arguments.part._actions:
        value = getattr(arguments, action.dest, action.default)
        words = value if isinstance(value, list) else [value]
        if action.option_strings and value != action.default:
            given[action.dest] = action.option_strings[-1]
        elif value and not action.option_strings:
            given[action.dest] = " ".join(map(str, words))
    return given


Item = TypeVar("Item")


@dataclass(frozen=True)
class Shard:
    """Part `number` (from 1) of `parts`. The division depends only on the list."""

    number: int = 1
    parts: int = 1

    def __str__(self) -> str:
        return f"{self.number}/{self.parts}"

    def some(self, items: Sequence[Item]) -> list[Item]:
        """Select every `parts`-th item: neighbours take similar time. UserError without any."""
        return self._filled(items[self.number - 1 :: self.parts], len(items))

    def range(self, count: int) -> range:
        """Select consecutive numbers below `count`. UserError if there are none."""
        begin, end = (count * upto // self.parts for upto in (self.number - 1, self.number))
        return range(begin, begin + len(self._filled(range(begin, end), count)))

    def _filled(self, items: Sequence[Item], count: int) -> list[Item]:
        if not items and self.parts > 1:
            raise UserError(f"shard {self} is empty", f"there are {count}", "use fewer shards")
        return list(items)


WHOLE = Shard()


def shard(part: argparse.ArgumentParser, what: str) -> None:
    """Add --shard."""
    text = f"run only part I of N of the {what} (docs/ci.md)"
    part.add_argument("--shard", type=part_of, default=WHOLE, metavar="I/N", help=text)


def part_of(text: str) -> Shard:
    """Parse I/N. ArgumentTypeError for anything else."""
    part = re.fullmatch(r"([0-9]+)/([0-9]+)", text)
    if not part or not 1 <= int(part[1]) <= int(part[2]):
        raise argparse.ArgumentTypeError(f"{text!r} is not I/N with I from 1 to N, such as 1/4")
    return Shard(int(part[1]), int(part[2]))

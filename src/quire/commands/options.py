# SPDX-License-Identifier: GPL-2.0
"""Options that several commands share. A command adds those that have an effect there."""

import argparse
import os
from collections.abc import Sequence
from pathlib import Path

from quire.arch import ARCHITECTURES, Architecture, further_cpus
from quire.cluster import option
from quire.host.errors import UserError
from quire.source import side
from quire.suites import suite

# What a run says, how fast and where it is, not what it does.
ALWAYS = {"verbose", "quiet", "jobs", "ARCH", "CROSS_COMPILE", "O"}


# --cluster and --tls.
cluster = option.add


def common(part: argparse.ArgumentParser) -> None:
    """Those of every command; for others that every session has, the values without them."""
    group = part.add_argument_group("common options")
    add = group.add_argument
    add("-v", "--verbose", action="store_true", help="print the exact commands while they run")
    add("-q", "--quiet", action="store_true", help="no progress on stderr")
    # Of set_defaults(), an option takes its default.
    part.set_defaults(jobs=len(os.sched_getaffinity(0)), config=[], words=())
    part.set_defaults(emulated="")


def kernel(part: argparse.ArgumentParser) -> None:
    """Which kernels are built, of two sides."""
    text = "a further Kconfig fragment, for instance configs/debug.config"
    add = sides(part).add_argument
    add("--config", type=Path, action="append", default=[], metavar="FRAGMENT", help=text)


def sides(part: argparse.ArgumentParser) -> argparse._ArgumentGroup:
    """The trees of both sides, and kbuild's words; the group of the first."""
    kernels, pair = side_a(part)
    jobs(kernels)
    pair.add_argument(
        "--b", default="", metavar="SIDE", help="side B: a kernel tree, or a revision"
    )
    part.set_defaults(words=("ARCH", "CROSS_COMPILE", "LLVM"))
    return kernels


def side_a(
    part: argparse.ArgumentParser,
) -> tuple[argparse._ArgumentGroup, argparse._ArgumentGroup]:
    """One tree and a series for it; the groups of our sides and of a user's own."""
    kernels = part.add_argument_group("the kernel")
    base(kernels)
    text = "any kernel tree in place of Debian's; it is copied, not changed"
    kernels.add_argument("--source", type=Path, metavar="DIR", help=text)
    only(kernels)
    pair = part.add_argument_group("two sides of your own")
    text = "side B is side A with this: a mailbox, a quilt series, a directory of patches"
    pair.add_argument("--series", type=Path, metavar="PATH", help=text)
    thread(pair)
    pair.add_argument(
        "--a", default="", metavar="SIDE", help="side A: a kernel tree, or a revision"
    )
    text = "the repository that has the revisions --a and --b"
    pair.add_argument("--git", type=Path, metavar="DIR", help=text)
    text = "use this line's configuration (default: by the version of the trees)"
    pair.add_argument("--line", default="", metavar="NAME", help=text)
    return kernels, pair


def thread(part: argparse._ActionsContainer) -> None:
    """--version and --partial, for a series that is a thread of mails."""
    text = "of a thread of mails, this version of the series (default: the newest)"
    part.add_argument("--version", type=positive, default=0, metavar="N", help=text)
    text = "of a thread of mails, the patches that are there; others may be missing"
    part.add_argument("--partial", action="store_true", help=text)


def configuration(part: argparse.ArgumentParser) -> None:
    """How one tree is built, and kbuild's words."""
    add = part.add_argument
    add("--line", default="", metavar="NAME", help="use this line's configuration")
    text = "a further Kconfig fragment"
    add("--config", type=Path, action="append", default=[], metavar="FRAGMENT", help=text)
    jobs(part)
    part.set_defaults(words=("ARCH", "CROSS_COMPILE"))


def base(part: argparse._ActionsContainer) -> None:
    """--base."""
    text = "Debian's linux-source: 6.12 (the newest), 6.12.94 (that one), 7.3"
    part.add_argument("--base", default=side.DEFAULT_BASE, metavar="VERSION", help=text)


def only(part: argparse._ActionsContainer) -> None:
    """--only."""
    text = "patch with this topic (mremap, ksm, …) and what it needs alone; may be repeated"
    part.add_argument("--only", action="append", default=[], metavar="TOPIC", help=text)


def jobs(part: argparse._ActionsContainer) -> None:
    """-j."""
    text = "parallel processes, as make's -j (default: all CPUs, %(default)s)"
    part.add_argument("-j", "--jobs", type=positive, metavar="N", help=text)


def emulated(part: argparse.ArgumentParser, why: str) -> None:
    """For a command that is not for kernels without an emulator: what it does instead."""
    part.set_defaults(emulated=why)


def counting(part: argparse.ArgumentParser) -> None:
    """For a command whose work is to count instructions."""
    part.set_defaults(emulated="counts instructions in QEMU", counting=True)


def require_emulated(arguments: argparse.Namespace, architectures: Sequence[Architecture]) -> None:
    """UserError for an architecture without an emulator, or one whose instructions the plugin does
    not decode, where the command needs it."""
    if arguments.emulated:
        refuse_programs(architectures, f"{arguments.part.prog} {arguments.emulated}")
    names = [arch.name for arch in architectures if not arch.event_kinds]
    if names and "counting" in arguments:
        raise other_architecture(f"no instructions of {', '.join(names)} are decoded")


def refuse_programs(architectures: Sequence[Architecture], what: str) -> None:
    """UserError if the kernel of one of them is a program of this host, since that does `what`."""
    names = [arch.name for arch in architectures if not arch.qemu]
    if names:
        raise other_architecture(f"{what}: not for ARCH={','.join(names)}")


def other_architecture(what: str) -> UserError:
    """The error for one that a command does not take; those that all take are the remedy."""
    return UserError(what, remedy=f"use one of: ARCH={' ARCH='.join(ARCHITECTURES)}")


def as_json(part: argparse.ArgumentParser, help: str = "print JSON") -> None:
    """--json."""
    part.add_argument("--json", action="store_true", help=help)


def sizes(part: argparse.ArgumentParser, default: str) -> None:
    """--size."""
    text = f"folio size in KiB, 4 for none; may be repeated (default: {default})"
    part.add_argument("--size", type=int, action="append", default=[], metavar="KIB", help=text)


def null(part: argparse.ArgumentParser) -> None:
    """--null."""
    text = "also count N kernels of side A that differ in code placement alone (at most 8), and "
    text += "show the spread beside each change"
    part.add_argument("--null", type=positive, default=0, metavar="N", help=text)


def stock(part: argparse._ActionsContainer) -> None:
    """--stock. Callers that have it require_series() as well."""
    part.add_argument("--stock", action="store_true", help="the base, without the series")


def cpus(part: argparse.ArgumentParser, default: int) -> None:
    """--smp and --cpu."""
    text = "virtual CPUs (default %(default)s)"
    part.add_argument("--smp", type=positive, default=default, metavar="N", help=text)
    text = "emulate a CPU other than the architecture's default: " + ", ".join(further_cpus())
    part.add_argument("--cpu", metavar="NAME", help=text)


def timeout(part: argparse.ArgumentParser) -> None:
    """--timeout of a boot of tests."""
    text = "treat the guest as hung after this time (default %(default).0f)"
    add = part.add_argument
    add("--timeout", type=float, default=suite.TIMEOUT, metavar="SECONDS", help=text)


def positive(text: str) -> int:
    """A number from 1 on."""
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError("must be at least 1")
    return number


def refuse(arguments: argparse.Namespace, names: str, where: str) -> None:
    """UserError if one of the options `names` was given: it does nothing `where`."""
    useless = [text for name, text in _given(arguments).items() if name in names.split()]
    if useless:
        raise UserError(f"{', '.join(useless)} does nothing {where}", remedy="leave it out")


def allow(arguments: argparse.Namespace, names: str, where: str) -> None:
    """UserError if another option than `names` was given: it does nothing `where`."""
    others = _given(arguments).keys() - {*names.split(), *ALWAYS}
    refuse(arguments, " ".join(others), where)


def require_series(arguments: argparse.Namespace) -> None:
    """UserError for --stock with an option that chooses the series."""
    if arguments.stock:
        refuse(arguments, "only series", "with --stock")


def check(arguments: argparse.Namespace) -> None:
    """UserError for a word of kbuild that the command does not use, or for a base that it would
    not use."""
    if "source" in arguments and (arguments.source or arguments.a):
        refuse(arguments, "base", "beside a tree of your own (--source, --a)")
    unused = [name for name in arguments.given if name not in (*arguments.words, "O")]
    refuse(arguments, " ".join(unused), f"for {arguments.part.prog}")


def _given(arguments: argparse.Namespace) -> dict[str, str]:
    """What was given besides the defaults: the name of the value, and what the user has written."""
    given = {name: f"{name}=" for name in arguments.given}
    for action in arguments.part._actions:
        value = getattr(arguments, action.dest, action.default)
        words = value if isinstance(value, list) else [value]
        if action.option_strings and value != action.default:
            given[action.dest] = action.option_strings[-1]
        elif value and not action.option_strings:
            given[action.dest] = " ".join(map(str, words))
    return given

# SPDX-License-Identifier: GPL-2.0
"""The command line: options every command shares, kbuild's NAME=value words, exit codes."""

from __future__ import annotations

import argparse
import errno
import os
import re
import shutil
import signal
import sys
from collections.abc import Sequence
from dataclasses import fields
from pathlib import Path
from types import FrameType
from typing import Any

import quire
from quire import commands, session
from quire.boot.launch import Here
from quire.host import git, process, project
from quire.host.cache import Cache
from quire.host.errors import BuildFailed, QuireError, UserError
from quire.host.progress import Progress
from quire.source import line as lines
from quire.source import series as series_files
from quire.source import side
from quire.source.side import SideOptions

KBUILD = re.compile(r"(ARCH|CROSS_COMPILE|O)=(.*)", re.S)
EPILOG = """\
kbuild's names work as words: ARCH=arm64 CROSS_COMPILE=… O=DIR; but for O in the environment, too.
exit status: 0 pass · 1 a test failed or a difference was found · 2 usage, or something is
missing · 3 a build failed · 4 the guest was lost (panic, hang, splat)."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; the exit status. Ctrl-C and SIGTERM end every child first."""
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, _interrupt)
    try:
        words, variables = kbuild_words(list(sys.argv[1:] if argv is None else argv))
        arguments = parser(words).parse_args(words)
        process.configure(process.Settings(arguments.dry_run, arguments.verbose))
        return int(arguments.run(make_session(arguments, variables), arguments))
    except process.NotRun as missing:
        if str(missing):
            print(f"# {missing}")
        return 0
    except QuireError as error:
        print(error.text(), file=sys.stderr)
        return error.exit_code
    except KeyboardInterrupt:
        process.kill_all()
        print("quire: interrupted; incomplete results were removed", file=sys.stderr)
        return 128 + signal.SIGINT
    except BrokenPipeError:
        # The reader of stdout has exited, as `head` does.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 128 + signal.SIGPIPE
    except OSError as error:
        if error.errno != errno.ENOSPC:
            raise
        print(_no_space(error).text(), file=sys.stderr)
        return BuildFailed.exit_code
    finally:
        process.kill_all()


def parser(words: Sequence[str] = ()) -> argparse.ArgumentParser:
    """The command line; each command adds its own part (commands/).

    If `words` name a command, the parser knows that command only.
    """
    named = words[:1] if words and words[0] in commands.NAMES else commands.NAMES
    common, kernel = (argparse.ArgumentParser(add_help=False) for _ in range(2))
    _add_common(common)
    _add_kernel(kernel)
    top = argparse.ArgumentParser(
        prog="quire",
        description="Builds stock and patched kernels, counts what large folios cost, "
        "tests the kernels, and maintains the series.",
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    top.add_argument("--version", action=_Version, nargs=0, help="show the version and exit")
    subparsers = top.add_subparsers(title="commands", metavar="COMMAND", required=True)
    for name in named:
        module = commands.load(name)
        summary, _, rest = (module.__doc__ or "").partition("\n")
        part = subparsers.add_parser(
            name,
            parents=[common] if name in commands.WITHOUT_KERNEL else [common, kernel],
            help=summary.rstrip("."),
            description=f"{summary}\n{rest}".strip(),
            epilog=EPILOG,
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        module.add_arguments(part)
        part.set_defaults(run=module.run)
    return top


class _Version(argparse.Action):
    """The version, the checkout's commit, and the series."""

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> None:
        root = project.find().root
        told = git.run_git(root, "describe", "--always", "--dirty", "--exclude=*")
        print(f"quire {quire.__version__}", "" if told.status else f"({told.output.strip()})")
        for line in lines.known(root):
            for series in series_files.variants(line.series) if line.series else ():
                print(f"  {len(series.patches)} patches for Linux {series.versions}")
        parser.exit()


def _add_common(part: argparse.ArgumentParser) -> None:
    group = part.add_argument_group("common options")
    group.add_argument(
        "-j",
        "--jobs",
        type=_positive,
        default=session.cpus(),
        metavar="N",
        help="parallel processes, as make's -j (default: all CPUs, %(default)s)",
    )
    group.add_argument(
        "-n", "--dry-run", action="store_true", help="print the exact commands and run none"
    )
    group.add_argument(
        "-v", "--verbose", action="store_true", help="print the exact commands while they run"
    )
    group.add_argument("-q", "--quiet", action="store_true", help="no progress on stderr")


def _add_kernel(part: argparse.ArgumentParser) -> None:
    base = part.add_argument_group("which kernel")
    base.add_argument(
        "--base",
        default=side.DEFAULT_BASE,
        metavar="VERSION",
        help="Debian's linux-source: 6.12 (the newest), 6.12.94 (that one), 7.3",
    )
    base.add_argument(
        "--source",
        type=Path,
        metavar="DIR",
        help="any kernel tree in place of Debian's; it is copied, not changed",
    )
    base.add_argument(
        "--config",
        type=Path,
        action="append",
        default=[],
        metavar="FRAGMENT",
        help="a further Kconfig fragment, for instance configs/debug.config",
    )
    base.add_argument(
        "--only",
        action="append",
        default=[],
        metavar="TOPIC",
        help="patch with this topic alone (mremap, ksm, …); may be repeated",
    )
    _add_sides(part.add_argument_group("two sides of your own"))


def _add_sides(group: argparse._ArgumentGroup) -> None:
    group.add_argument(
        "--series",
        type=Path,
        dest="patches",
        metavar="PATH",
        help="side B is side A with this: a mailbox, a quilt series, a directory of patches",
    )
    group.add_argument(
        "--a", default="", metavar="SIDE", help="side A: a kernel tree, or a revision"
    )
    group.add_argument(
        "--b", default="", metavar="SIDE", help="side B: a kernel tree, or a revision"
    )
    group.add_argument(
        "--git", type=Path, metavar="DIR", help="the repository that has the revisions --a and --b"
    )
    group.add_argument(
        "--line",
        default="",
        metavar="NAME",
        help="use this line's configuration (default: by the version of the trees)",
    )


def make_session(arguments: argparse.Namespace, variables: dict[str, str]) -> session.Session:
    """The parsed options and kbuild words. UserError for an unsuitable build directory."""
    root = project.find()
    build = Path(variables["O"]) if variables.get("O") else root.root / "build"
    cross = variables.get("CROSS_COMPILE")
    names = variables["ARCH"].replace(",", " ").split() if variables.get("ARCH") else []
    if re.search(r"[\s:]", str(build.resolve())):
        raise UserError(
            "kbuild cannot build below a path with spaces or colons",
            str(build.resolve()),
            "name another build directory with O=DIR",
        )
    return session.Session(
        project=root,
        cache=Cache(build.resolve()),
        progress=Progress(quiet=arguments.quiet or arguments.dry_run),
        architectures=session.architectures(names, cross),
        jobs=arguments.jobs,
        side_options=_side_options(arguments),
        cross_compile=cross,
        configs=tuple(getattr(arguments, "config", ())),
        place=Here(arguments.jobs),
    )


def kbuild_words(argv: list[str]) -> tuple[list[str], dict[str, str]]:
    """Remove NAME=value words from the arguments; the environment supplies the others."""
    variables = {name: os.environ[name] for name in ("ARCH", "CROSS_COMPILE") if name in os.environ}
    words = []
    for word in argv:
        found = KBUILD.fullmatch(word)
        if found:
            variables[found[1]] = found[2]
        else:
            words.append(word)
    return words, variables


def _side_options(arguments: argparse.Namespace) -> SideOptions:
    """What the options of _add_kernel() choose; the default for a command without them."""
    given = {**vars(arguments), "series": getattr(arguments, "patches", None)}
    known = {field.name: given[field.name] for field in fields(SideOptions) if field.name in given}
    chosen: dict[str, Any] = {k: tuple(v) if isinstance(v, list) else v for k, v in known.items()}
    return SideOptions(**chosen)


def _positive(text: str) -> int:
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError("must be at least 1")
    return number


def _no_space(error: OSError) -> BuildFailed:
    place = Path(error.filename or ".")
    while not place.exists():
        place = place.parent
    free = shutil.disk_usage(place).free // 2**20
    return BuildFailed(
        "no space left on the device",
        f"{error.filename or ''} ({free} MiB free)",
        "free some space (a demo needs 4 GB), or name another build directory with O=DIR",
    )


def _interrupt(_number: int, _frame: FrameType | None) -> None:
    raise KeyboardInterrupt

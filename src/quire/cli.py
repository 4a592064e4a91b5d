# SPDX-License-Identifier: GPL-2.0
"""The command line: shared options, kbuild's NAME=value words, exit codes."""

import argparse
import errno
import os
import re
import shutil
import signal
import sys
from collections.abc import Mapping, Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any

import quire
from quire import commands
from quire.arch import ARCHITECTURES, KNOWN, architecture, on_cpu
from quire.boot.launch import Here
from quire.cluster import option
from quire.commands import options
from quire.host import git, process, project
from quire.host.cache import Cache
from quire.host.errors import BuildFailed, QuireError, UserError
from quire.host.progress import Progress
from quire.session import Session
from quire.source import line as lines
from quire.source.side import SideOptions

# ARCH=all: the emulated architectures.
ALL = "all"
KBUILD = re.compile(r"(ARCH|CROSS_COMPILE|LLVM|O)=(.*)", re.S)
DESCRIPTION = (
    "Builds stock and patched kernels, counts what large folios cost, tests the kernels, and "
    "maintains the series."
)
# kbuild's names, as in the help of each command that takes them.
WORDS = {"ARCH": "ARCH=arm64", "CROSS_COMPILE": "CROSS_COMPILE=…", "LLVM": "LLVM=-19"}
STATUS = """\
exit status: 0 pass · 1 a test failed or a difference was found · 2 usage error or missing
prerequisite · 3 a build failed · 4 the guest was lost (panic, hang, splat)."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return the exit status. Ctrl-C and SIGTERM end all children first."""
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.default_int_handler)
    try:
        return _run(list(sys.argv[1:] if argv is None else argv))
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


def _run(argv: list[str]) -> int:
    words, given = kbuild_words(argv)
    if new := commands.renamed(words):
        variables = [f"{name}={value}" for name, value in given.items()]
        what = f"quire {' '.join(words)} has a new spelling"
        raise UserError(what, remedy=" ".join([new, *variables]))
    arguments, unknown = parser(words).parse_known_args(words)
    if unknown:
        name, text = arguments.part.prog, " ".join(unknown)
        remedy = f"{name} --help lists its options"
        if {"-n", "--dry-run"}.intersection(unknown):
            remedy = "-v prints each command as it runs; only apply has --dry-run"
        raise UserError(f"{name} does not take: {text}", remedy=remedy)
    process.configure(verbose=arguments.verbose)
    arguments.given = given
    options.check(arguments)
    environment = {
        name: os.environ[name] for name in ("ARCH", "CROSS_COMPILE") if name in os.environ
    }
    session = make_session(arguments, {**environment, **given})
    options.require_emulated(arguments, session.architectures)
    if "cluster" not in arguments:
        return int(arguments.run(session, arguments) or 0)
    with option.using(session, arguments) as there:
        return int(arguments.run(there, arguments) or 0)


def parser(words: Sequence[str] = ()) -> argparse.ArgumentParser:
    """Return the parser; each command adds its own part (commands/).

    If `words` name a command, the parser knows only that command.
    """
    named = words[:1] if words and words[0] in commands.NAMES else commands.NAMES
    style: Any = {"formatter_class": argparse.RawDescriptionHelpFormatter}
    top = argparse.ArgumentParser(prog="quire", usage="quire COMMAND ...", **style)
    top.description = DESCRIPTION
    top.add_argument("--version", action=_Version, nargs=0, help="show the version and exit")
    subparsers = top.add_subparsers(
        help=argparse.SUPPRESS, metavar="COMMAND", prog="quire", required=True
    )
    summaries = dict[str, str]()
    for name in named:
        module = commands.load(name)
        summaries[name] = (module.__doc__ or "").partition("\n")[0].rstrip(".")
        part = _add(subparsers, name, module.__doc__ or "", style)
        if modes := getattr(module, "MODES", ()):
            several = part.add_subparsers(title="modes", metavar="MODE", required=True)
            for mode in modes:
                _fill(_add(several, mode.name, mode.about, style), mode)
            part.epilog = STATUS
        else:
            _fill(part, module)
    top.epilog = f"{_groups(summaries)}\n\nquire COMMAND --help has options and examples.\n{STATUS}"
    return top


def _groups(summaries: Mapping[str, str]) -> str:
    """The commands by purpose, with their summaries."""
    parts = (
        [f"{title}:", *(f"  {name:10} {summaries[name]}" for name in names if name in summaries)]
        for title, names in commands.GROUPS.items()
    )
    return "\n\n".join("\n".join(lines) for lines in parts)


def _add(parsers: Any, name: str, about: str, style: dict[str, Any]) -> argparse.ArgumentParser:
    """The parser of a command or mode; the first line of `about` is its summary."""
    summary, _, rest = about.partition("\n")
    text = {"help": summary.rstrip("."), "description": f"{summary}\n{rest}".strip()}
    # Without this, an unknown option could match another option's prefix.
    part: argparse.ArgumentParser = parsers.add_parser(name, allow_abbrev=False, **text, **style)
    return part


def _fill(part: argparse.ArgumentParser, of: Any) -> None:
    options.common(part)
    of.add_arguments(part)
    part.set_defaults(run=of.run, part=part)
    words = [WORDS[word] for word in part.get_default("words")]
    part.epilog = f"words, as kbuild's: {' '.join([*words, 'O=DIR'])}\n{STATUS}"


class _Version(argparse.Action):
    """The version, the checkout's commit, and the series."""

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> None:
        found = project.find()
        root, told = found.root, ""
        # An installed copy may be inside another project's checkout.
        if not found.installed:
            described = git.run_git(root, "describe", "--always", "--dirty", "--exclude=*")
            told = "" if described.status else f"({described.output.strip()})"
        print(f"quire {quire.__version__}", told)
        for series in (each for _, each in lines.all_series(root)):
            print(f"  {len(series.patches)} patches for Linux {series.versions}")
        parser.exit()


def make_session(arguments: argparse.Namespace, variables: dict[str, str]) -> Session:
    """Parsed options and kbuild words. UserError for an unsuitable build directory."""
    root = project.find()
    build = Path(variables["O"]) if variables.get("O") else root.build
    cross = variables.get("CROSS_COMPILE")
    names = variables.get("ARCH", "").replace(",", " ").split() or [*ARCHITECTURES]
    if names == [ALL]:
        names = [arch.name for arch in KNOWN.values() if arch.qemu]
    if cross is not None and len(names) != 1:
        raise UserError(
            "CROSS_COMPILE applies to one architecture, but several are selected",
            remedy=f"choose one: ARCH={names[0]} CROSS_COMPILE={cross}",
        )
    if re.search(r"[\s:]", str(build.resolve())):
        raise UserError(
            "kbuild cannot build below a path with spaces or colons",
            str(build.resolve()),
            "name another build directory with O=DIR",
        )
    chosen = tuple(architecture(name) for name in names)
    if cpu := vars(arguments).get("cpu"):
        chosen = on_cpu(chosen, cpu)
    given = vars(arguments) | {"only": tuple(vars(arguments).get("only", ()))}
    # Defaults for options that the command lacks.
    chosen_sides = {f.name: given[f.name] for f in fields(SideOptions) if given.get(f.name)}
    return Session(
        project=root,
        cache=Cache(build.resolve()),
        progress=Progress(quiet=arguments.quiet),
        architectures=chosen,
        jobs=arguments.jobs,
        side_options=SideOptions(**chosen_sides),
        cross_compile=cross,
        llvm=variables.get("LLVM", ""),
        configs=tuple(arguments.config),
        place=Here(arguments.jobs),
    )


def kbuild_words(argv: list[str]) -> tuple[list[str], dict[str, str]]:
    """Return the arguments without kbuild's words; and those words."""
    matches = [KBUILD.fullmatch(word) for word in argv]
    words = [word for word, match in zip(argv, matches, strict=True) if not match]
    return words, {match[1]: match[2] for match in matches if match}


def _no_space(error: OSError) -> BuildFailed:
    named = Path(error.filename or ".")
    place = next(path for path in (named, *named.parents) if path.exists())
    free = shutil.disk_usage(place).free // 2**20
    return BuildFailed(
        "no space left on the device",
        f"{error.filename or ''} ({free} MiB free)",
        "free some space (a demo needs 4 GB), or name another build directory with O=DIR",
    )

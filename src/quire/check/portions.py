# SPDX-License-Identifier: GPL-2.0
"""The checks that compile, in portions for the workers of a cluster.

A portion is a command: `quire check` of one configuration of --architectures, or of the steps of
one architecture. It runs alone on a worker, in the worker's build directory. What it reads goes
there first: the bases, and this checkout's lines, configurations and patches.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from quire.check.architectures import check as compiling
from quire.check.architectures.check import Compilation
from quire.check.architectures.configuration import Configuration
from quire.check.series_check import Check
from quire.cluster import job
from quire.cluster.job import ALONE, Contents, File, Job
from quire.host import errors, parallel, process
from quire.host.cache import Cache, digest
from quire.host.errors import Difference
from quire.session import Session
from quire.source.side import Sides
from quire.source.tree import OBJDIR_PREFIX, SOURCES

if TYPE_CHECKING:
    from quire.cluster.client import Cluster

OUT, ERR = "stdout", "stderr"
# What a portion reads of the checkout.
FOLDERS = ("configs", "lines", "patches")
# Entries of the build directory are unpacked once: no other portion runs on this worker.
SCRIPT = """\
exec >stdout 2>stderr
new=$BUILD/unpacking
for archive in */*.tar.gz; do
    [ -d "$BUILD/${archive%.tar.gz}" ] && continue
    rm -rf "$new" && mkdir -p "$new" "$BUILD/${archive%/*}" && tar -C "$new" -xzf "$archive" &&
        mv "$new" "$BUILD/${archive%.tar.gz}" || exit
done
cd "$BUILD" && QUIRE_ROOT=$PWD/$0 exec "$PYTHON" -m quire check --json -q "$@" -j"$JOBS" O="$BUILD"
"""


def configurations(
    session: Session, sides: Sides, chosen: Sequence[Configuration]
) -> list[Compilation]:
    """compiling.check(), each configuration on some worker."""
    able = compiling.compiled_here(chosen)
    words = [("--architectures", one.name) for one in able]
    compilers = [f"{one.compiler.cross_compile}gcc" for one in able]
    found = _each(session, sides, "compiling", words, compilers)
    cells = [Compilation(**row) for rows in found for row in rows]
    known = {(one.configuration, one.topic): one for one in cells}
    return compiling.table(chosen, compiling.selections(sides.series), known)


def steps(session: Session, sides: Sides) -> Iterator[Check]:
    """Every step builds, and the whole kernels: each architecture on some worker."""
    requests = [session.request(arch, sides.a.tree) for arch in session.architectures]
    words = [("--builds", f"ARCH={one.arch.name}") for one in requests]
    compilers = [f"{one.toolchain.cross_compile}gcc" for one in requests]
    # As without a cluster: patch by patch, then the whole kernels.
    found = _each(session, sides, "building each step", words, compilers)
    for rows in zip(*found, strict=True):
        yield from (Check(**row) for row in rows)


def _each(
    session: Session,
    sides: Sides,
    stage: str,
    words: Sequence[tuple[str, ...]],
    compilers: Sequence[str],
) -> list[list[dict[str, Any]]]:
    """The rows that `quire check` with each of these words prints on some worker."""
    root, contents = session.cache.root, dict[str, Path]()
    project = _project(session, sides)
    entries = [*dict.fromkeys(side.origin.path.parent for side in sides.both), project]
    files = tuple(_packed(session.cache, entry, contents) for entry in entries)
    given = _words(session, sides, project)
    cluster = cast("Cluster", session.place)
    work = []
    for own, compiler in zip(words, compilers, strict=True):
        argv = ("sh", "-c", SCRIPT, str(project.relative_to(root)), *own, *given)
        same = (job.same(compiler, "--version"), job.same("uname", "-m"))
        work.append(Job(own[-1], argv, (OUT, ERR), same, files))

    def rows(one: Job) -> list[dict[str, Any]]:
        outcome = cluster.outcome(one, contents, ALONE)
        outcome.write(root, outcome.files.keys() - {OUT, ERR})
        if outcome.ended.status not in (0, Difference.exit_code):
            raise errors.read(outcome.ended.status, outcome.text(ERR, root))
        found: list[dict[str, Any]] = json.loads(outcome.text(OUT, root))
        return found

    with session.progress.stage(stage, len(work)):
        return parallel.side_by_side(
            work,
            rows,
            lambda done, one, _: session.progress.at(done, one.name),
            session.place.machines,
        )


def _words(session: Session, sides: Sides, project: Path) -> list[str]:
    """The options for these sides and this configuration, with paths of a worker."""
    options, root = session.side_options, session.cache.root
    a, b = (str(side.origin.path.relative_to(root)) for side in sides.both)
    words = ["--a", a, "--b", b] if options.b else ["--source", a]
    words += ["--line", options.line] if options.line else []
    words += [word for topic in options.only for word in ("--only", topic)]
    for option, path in (
        ("--series", options.series),
        *(("--config", one) for one in session.configs),
    ):
        if path:
            words += [option, str(project.relative_to(root) / _name(session, path))]
    return [*words, f"CROSS_COMPILE={session.cross_compile}"] if session.cross_compile else words


def _name(session: Session, path: Path) -> Path:
    """Where a file of the user's is in the project that travels."""
    path, root = path.resolve(), session.project.root.resolve()
    inside = any(path.is_relative_to(root / folder) for folder in FOLDERS)
    return path.relative_to(root) if inside else Path("given", *path.parts[1:])


def _project(session: Session, sides: Sides) -> Path:
    """An entry of the build directory: what a portion reads of the checkout, and what is given."""
    found = [path for folder in FOLDERS for path in (session.project.root / folder).rglob("*")]
    found += [
        *session.configs,
        *([session.side_options.series] if session.side_options.series else []),
    ]
    found += [sides.series.file, *(patch.path for patch in sides.series.patches)]
    paths = {str(_name(session, path)): path for path in found if path.is_file()}
    key = digest(sorted(paths), *(paths[name] for name in sorted(paths)))

    def build(new: Path) -> None:
        for name, path in paths.items():
            (new / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, new / name)

    return session.cache.make("project", key, build)


def _packed(cache: Cache, entry: Path, contents: Contents) -> File:
    """An entry of the build directory as one file, without compiled objects."""
    kind, name = entry.parent.name, "tar.gz"

    def build(new: Path) -> None:
        argv = ["tar", "-C", str(entry), f"--exclude=./{SOURCES}/{OBJDIR_PREFIX}*"]
        argv += ["--use-compress-program=gzip -1", "-cf", str(new / name), "."]
        process.check(process.Command(argv))

    archive = cache.make("archive", f"{kind}-{entry.name}", build) / name
    return job.sent(f"{kind}/{entry.name}.tar.gz", archive, contents)

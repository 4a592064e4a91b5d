# SPDX-License-Identifier: GPL-2.0
"""Run the checks that compile on the workers of a cluster.

A job is `quire check` for one configuration of --architectures, or for the steps of one
architecture. It runs alone on a worker, in the worker's build directory. Its inputs are copied
there first: the bases, and this checkout's lines, configurations and patches.
"""

import json
import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from quire.check import compile as compiling
from quire.check.compile import Compilation
from quire.check.configuration import Configuration
from quire.check.series_check import Check
from quire.cluster import job
from quire.cluster.job import ALONE, Contents, File, RemoteJob
from quire.host import errors, parallel, process
from quire.host.cache import Cache, digest
from quire.host.errors import Difference
from quire.session import Session
from quire.source.side import Sides
from quire.source.tree import OBJDIR_PREFIX, SOURCES

if TYPE_CHECKING:
    from quire.cluster.client import Cluster

OUT, ERR = "stdout", "stderr"
# The parts of the checkout that a job reads.
FOLDERS = ("configs", "lines", "patches")
# Unpack entries of the build directory once. No other job runs on this worker.
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
Rows = list[dict[str, Any]]


def configurations(
    session: Session, sides: Sides, chosen: Sequence[Configuration]
) -> list[Compilation]:
    """Run compile.check(), each configuration on some worker."""
    words = {
        ("--architectures", configuration.name): configuration.compiler.cross_compile
        for configuration in compiling.compiled_here(chosen)
    }
    compilations = [
        Compilation(**row) for rows in _run(session, sides, "compiling", words) for row in rows
    ]
    return compiling.table(chosen, compiling.selections(sides.series), compilations)


def steps(session: Session, sides: Sides) -> Iterator[Check]:
    """Build after every patch, then the complete kernels, each architecture on some worker."""
    requests = [session.request(arch, sides.a.tree) for arch in session.architectures]
    words = {("--builds", f"ARCH={r.arch.name}"): r.toolchain.cross_compile for r in requests}
    # The order is that without a cluster: patch by patch, then the complete kernels.
    for rows in zip(*_run(session, sides, "build after each patch", words), strict=True):
        yield from (Check(**row) for row in rows)


def _run(
    session: Session, sides: Sides, stage: str, words: dict[tuple[str, str], str]
) -> list[Rows]:
    """The results of `quire check` with each of these words, on workers that have the same
    compiler, of this prefix."""
    root, contents = session.cache.root, Contents()
    project = _project(session, sides)
    entries = [*dict.fromkeys(side.origin.path.parent for side in sides.both), project]
    files = tuple(_packed(session.cache, entry, contents) for entry in entries)
    given = _words(session, sides, project)
    work = []
    for chosen, prefix in words.items():
        argv = ("sh", "-c", SCRIPT, str(project.relative_to(root)), *chosen, *given)
        same = (job.same(f"{prefix}gcc", "--version"), job.same("uname", "-m"))
        work.append(RemoteJob(chosen[-1], argv, (OUT, ERR), same, files))
    cluster, progress = cast("Cluster", session.place), session.progress

    def rows(check: RemoteJob) -> Rows:
        outcome = cluster.outcome(check, contents, ALONE)
        outcome.write(root, outcome.files.keys() - {OUT, ERR})
        if outcome.ended.status not in (0, Difference.exit_code):
            raise errors.read(outcome.ended.status, outcome.text(ERR, root))
        return cast(Rows, json.loads(outcome.text(OUT, root)))

    with progress.stage(stage, len(work)):
        return parallel.side_by_side(
            work, rows, lambda done, check, _: progress.at(done, check.name), cluster.machines
        )


def _words(session: Session, sides: Sides, project: Path) -> list[str]:
    """The options for these sides and this configuration, with the worker's paths."""
    chosen, root = session.side_options, session.cache.root
    a, b = (str(side.origin.path.relative_to(root)) for side in sides.both)
    words = ["--a", a, "--b", b] if chosen.b else ["--source", a]
    words += ["--line", chosen.line] if chosen.line else []
    words += [word for topic in chosen.only for word in ("--only", topic)]
    paths = [("--config", path) for path in session.configs]
    paths += [("--series", chosen.series)] if chosen.series else []
    for option, path in paths:
        words += [option, str(project.relative_to(root) / _name(session, path))]
    return [*words, f"CROSS_COMPILE={session.cross_compile}"] if session.cross_compile else words


def _name(session: Session, path: Path) -> Path:
    """The path of a user's file in the copied project."""
    path, root = path.resolve(), session.project.root.resolve()
    inside = any(path.is_relative_to(root / folder) for folder in FOLDERS)
    return path.relative_to(root) if inside else Path("given", *path.parts[1:])


def _project(session: Session, sides: Sides) -> Path:
    """An entry of the build directory: the checkout's parts that a job reads, and these files."""
    files = [path for folder in FOLDERS for path in (session.project.root / folder).rglob("*")]
    files += [*session.configs, *filter(None, [session.side_options.series])]
    files += [sides.series.file, *(patch.path for patch in sides.series.patches)]
    paths = {str(_name(session, path)): path for path in files if path.is_file()}
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

# SPDX-License-Identifier: GPL-2.0
"""The checks that compile, in portions for the workers of a cluster.

A portion is a configuration of --architectures, or else all steps of one architecture. A worker
keeps sources and objects below its own build directory, and carries out one portion at a time.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from quire.build import kernel
from quire.build.kernel import Request
from quire.check import series_check
from quire.check.architectures import check as compiling
from quire.check.architectures.check import Compilation
from quire.check.architectures.configuration import Configuration
from quire.check.series_check import Check
from quire.cluster.option import Workers
from quire.cluster.order import Call
from quire.host import parallel
from quire.host.cache import Cache
from quire.host.errors import UserError
from quire.host.progress import Progress
from quire.session import Session
from quire.source import tree as trees
from quire.source.base import Base
from quire.source.series import Series
from quire.source.side import Sides
from quire.source.tree import Tree


def configurations(
    session: Session,
    base: Base,
    series: Series,
    chosen: Sequence[Configuration],
    workers: Workers,
) -> list[Compilation]:
    """compiling.check(), each configuration on some worker."""
    calls = [
        Call(
            one.name,
            _configuration,
            (base, series, one, one.compiler.version()),
            (base.path.parent,),
        )
        for one in compiling.compiled_here(chosen)
    ]
    found = _each(session, "compiling", calls, workers)
    cells = {(one.configuration, one.topic): one for some in found for one in some}
    return compiling.table(chosen, compiling.selections(series), cells)


def _configuration(
    cache: Cache, jobs: int, base: Base, series: Series, one: Configuration, version: str
) -> list[Compilation]:
    if not one.compiler.need.present():
        raise UserError(
            "a worker lacks a compiler", one.compiler.package, "install it on all of them"
        )
    _require_version(one.compiler.version(), version)
    with cache.lock("check", "portion"):
        return compiling.check(cache, base, series, [one], jobs, Progress(quiet=True))


def steps(session: Session, sides: Sides, workers: Workers) -> Iterator[Check]:
    """Every step builds, and the whole kernels: each architecture on some worker."""
    entries = tuple(dict.fromkeys(side.tree.base.path.parent for side in sides.both))
    stocks = [session.request(arch, sides.a.tree) for arch in session.architectures]
    calls = []
    for stock in stocks:
        patched = session.request(stock.arch, sides.b.tree)
        calls.append(Call(stock.arch.name, _steps, (stock, patched, sides.series), entries))
    found = _each(session, "building each step", calls, workers)
    # As without a cluster: patch by patch, then the whole kernels.
    for checks in zip(*found, strict=True):
        yield from checks


def _steps(
    cache: Cache, jobs: int, stock: Request, patched: Request, series: Series
) -> list[Check]:
    here = kernel.toolchain(stock.arch, stock.toolchain.cross_compile)
    _require_version(here.version, stock.toolchain.version)
    with cache.lock("check", "portion"):
        kernel.build(cache, replace(stock, jobs=jobs))
        found = list(series_check.builds(cache, [replace(stock, jobs=jobs)], series))
        kernel.build(cache, replace(patched, tree=_made(cache, patched.tree), jobs=jobs))
    return [*found, series_check.whole(stock.arch)]


def _made(cache: Cache, tree: Tree) -> Tree:
    """The same tree in the worker's build directory."""
    return trees.patched(cache, tree.base, tree.series, tree.label) if tree.series else tree


def _require_version(here: str, there: str) -> None:
    if here != there:
        raise UserError(
            "a worker has another compiler", f"{here}; the client has {there}", "install the same"
        )


def _each(
    session: Session, stage: str, calls: Sequence[Call], workers: Workers
) -> list[Sequence[Any]]:
    """What the calls return, in their order."""
    with session.progress.stage(stage, len(calls)):
        return parallel.each(
            calls,
            lambda call: workers.call(call, session.cache),
            lambda done, call, _: session.progress.at(done, call.name),
            session.place.machines,
        )

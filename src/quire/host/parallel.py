# SPDX-License-Identifier: GPL-2.0
"""Machines side by side: two at a time, the results in order, the first error ends the rest."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from typing import TypeVar

from quire.host import process

# A machine with one virtual CPU keeps one core busy, and this is a tool for two cores.
AT_ONCE = 2

Item = TypeVar("Item")
Result = TypeVar("Result")


def in_turn(items: Iterable[Item], work: Callable[[Item], Result]) -> list[Result]:
    """`work` for every item, one after the other.

    Under --dry-run a step that was not run does not keep the next ones from being printed; NotRun
    is raised at the end.
    """
    results: list[Result] = []
    not_run = None
    for item in items:
        try:
            results.append(work(item))
        except process.NotRun as missing:
            not_run = missing
    if not_run:
        raise not_run
    return results


def each(
    items: Sequence[Item],
    work: Callable[[Item], Result],
    done: Callable[[int, Item, Result], None],
    at_once: int = AT_ONCE,
) -> list[Result]:
    """`work` for every item; `done` gets how many are, as they finish, in the calling thread.

    What `work` raises is raised when the other machines have been stopped. --dry-run is as for
    in_turn().
    """
    if process.dry_run():
        return in_turn(items, work)
    pool = ThreadPoolExecutor(max_workers=at_once)
    try:
        futures = {pool.submit(work, item): item for item in items}
        for number, future in enumerate(as_completed(futures), 1):
            done(number, futures[future], future.result())
    except BaseException:
        # Nobody may start another machine, and those that run are of no use any more.
        pool.shutdown(wait=False, cancel_futures=True)
        process.kill_all()
        raise
    pool.shutdown()
    return [future.result() for future in futures]

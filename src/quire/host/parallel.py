# SPDX-License-Identifier: GPL-2.0
"""Run machines in parallel: two at a time, results in order, the first error stops the rest."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from typing import TypeVar

from quire.host import process

# A machine with one virtual CPU keeps one core busy; quire is designed for two cores.
AT_ONCE = 2

Item = TypeVar("Item")
Result = TypeVar("Result")


def each(
    items: Sequence[Item],
    work: Callable[[Item], Result],
    done: Callable[[int, Item, Result], None],
    at_once: int = AT_ONCE,
) -> list[Result]:
    """Call `work` for each item; `done` gets the number of finished items, in the calling thread.

    When `work` raises, the other machines are stopped before the exception is raised here.
    """
    pool = ThreadPoolExecutor(max_workers=at_once)
    try:
        futures = {pool.submit(work, item): item for item in items}
        for number, future in enumerate(as_completed(futures), 1):
            done(number, futures[future], future.result())
    except BaseException:
        # Start no further machines and stop the running ones: their results would be discarded.
        pool.shutdown(wait=False, cancel_futures=True)
        process.kill_all()
        raise
    pool.shutdown()
    return [future.result() for future in futures]

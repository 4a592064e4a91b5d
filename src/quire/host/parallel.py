# SPDX-License-Identifier: GPL-2.0
"""Run machines in parallel: results keep their order, and the first error stops the rest."""

from collections import deque
from collections.abc import Callable, Generator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, as_completed
from typing import TypeVar

from quire.host import process

Item = TypeVar("Item")
Result = TypeVar("Result")


def side_by_side(
    items: Sequence[Item],
    work: Callable[[Item], Result],
    done: Callable[[int, Item, Result], None],
    at_once: int,
) -> list[Result]:
    """Call `work` for each item; `done` gets the number of finished items, in the calling thread.

    When `work` raises, the other machines are stopped before the exception is raised here.
    """
    pool = ThreadPoolExecutor(max_workers=at_once)
    try:
        futures = {pool.submit(work, item): item for item in items}
        for number, future in enumerate(as_completed(futures), 1):
            done(number, futures[future], future.result())
    except BaseException as reason:
        # Start no further machines and stop the running ones: their results would be discarded.
        pool.shutdown(wait=False, cancel_futures=True)
        process.kill_all()
        # The caller continues then, and must not conflict with machines that are ending. Ctrl-C
        # does not wait: a cluster's machine may not answer.
        pool.shutdown(wait=isinstance(reason, process.OutOfTime))
        raise
    pool.shutdown()
    return [future.result() for future in futures]


def ahead(
    items: Sequence[Item], work: Callable[[Item], Result], at_once: int
) -> Generator[tuple[Item, Result], None, None]:
    """Yield each item and its result in order, while `work` runs for the next ones.

    With `at_once` 0, `work` runs for an item only when the caller requests it. When the caller
    stops, calls that have begun are completed, and no more begin.
    """
    if not at_once:
        for item in items:
            yield item, work(item)
        return
    pool = ThreadPoolExecutor(max_workers=at_once)
    waiting: deque[tuple[Item, Future[Result]]] = deque()
    begun = 0
    try:
        while waiting or begun < len(items):
            while begun < len(items) and len(waiting) < 2 * at_once:
                waiting.append((items[begun], pool.submit(work, items[begun])))
                begun += 1
            item, future = waiting.popleft()
            yield item, future.result()
    finally:
        pool.shutdown(wait=False, cancel_futures=True)

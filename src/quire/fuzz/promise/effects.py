# SPDX-License-Identifier: GPL-2.0
"""What each operation does to the memory of the model.

An operation that failed may be half done: what it could have changed becomes undefined, or both the
old and the new content are allowed. Operations and advice missing from EFFECTS must not change what
a process sees.
"""

from dataclasses import replace

from quire.fuzz.language.program import Op, moved, positions
from quire.fuzz.promise import outcomes, rules
from quire.fuzz.promise.content import ZERO, Content
from quire.fuzz.promise.memory import (
    FAR,
    FILE,
    PRIVATE_ANON,
    SHARED,
    Effect,
    Frame,
    Memory,
    Page,
    Process,
    change,
)


def apply(memory: Memory, op: Op, outcome: str) -> None:
    """Apply an operation to the model, except for writes, which outcomes.py applies."""
    if op.verb == "reclaim":
        # Reclaim has not tried folios with extra references.
        memory.reclaims = memory.reclaims + 1 if memory.swapping and not memory.kept else 0
    elif not op.entry.idle:
        memory.reclaims = 0
    if op.verb == "swap" and outcome == "ok":
        memory.swapping = op.word == "on"
    process = memory.processes.get(op.actor) if op.actor is not None else None
    if not process:
        return
    if outcome != "ok" and op.entry.doubts:
        process.doubtful |= {*positions(op.range)}
    elif op.entry.effect:
        EFFECTS[op.entry.effect](memory, process, op, outcome)


def _map(memory: Memory, process: Process, op: Op, _outcome: str) -> None:
    for place in positions(op.range):
        if op.verb == "map":
            process.pages[place] = _new(memory, op.word, place[1])
        else:
            process.pages.pop(place, None)


def _new(memory: Memory, kind: str, number: int) -> Page:
    """Return a page of a new mapping; `number` is its place in a mapping that begins at page 0."""
    if kind not in FILE:
        frame = Frame(frozenset({ZERO}), rules.ZEROED, fading=kind == "droppable")
        return Page(kind, frame)
    at = number + (FAR if kind == "far" else 0)
    behind = memory.of_file(at)
    if kind in SHARED:
        return Page(kind, behind, at=at)
    return Page(kind, behind.copy(rules.SHOWN), behind, at)


def _fork(memory: Memory, process: Process, op: Op, outcome: str) -> None:
    if outcome != "ok":
        return
    born = {place: page.child() for place, page in process.pages.items()}
    undefined = {place for place, page in process.pages.items() if page.dontfork is None}
    pages = {place: page for place, page in born.items() if page}
    memory.processes[op.number] = Process(pages, process.doubtful | undefined, locked_base=0)


def _exit(memory: Memory, _process: Process, op: Op, _outcome: str) -> None:
    memory.processes.pop(op.actor or 0, None)


def _protect(_memory: Memory, process: Process, op: Op, _outcome: str) -> None:
    for page in process.within(op.range):
        page.prot = op.word
        if page.locked is not False and op.word == "rw":
            _written_by_kernel(page)


def _move(_memory: Memory, process: Process, op: Op, outcome: str) -> None:
    if outcome != "ok":
        old, new = positions(op.range), positions(op.target)
        # The target is unmapped before anything else can fail. Of several mappings, some may have
        # moved (mremap(2): MREMAP_FIXED, since Linux 6.17).
        process.doubtful |= {*old, *new}
        doubted = (*old, *new) if old and old[0] in process.pages else ()
        for known in (process.pages[place] for place in doubted if place in process.pages):
            # It may have moved, with the marks of its mapping, or have been replaced.
            known.murky = True
            known.locked = known.dontfork = known.wipe = None
            known.frame.unsaid |= known.shared
        return
    pairs = moved(op, outcome)
    pages = [process.pages.pop(before, None) for before, _ in pairs]
    for (before, after), page in zip(pairs, pages, strict=True):
        # Gaps between several moved mappings leave the target unchanged.
        if page:
            process.pages[after] = replace(
                page,
                marked=page.perhaps_marked,
                tracked=None if page.tracked else page.tracked,
                dirty=page.held,
            )
        if page and op.word == "keep":
            process.pages[before] = _left(page)


def _left(page: Page) -> Page:
    """Return what remains of a page whose content has moved."""
    tracked = None if page.tracked else page.tracked
    left = replace(page, marked=None, tracked=tracked, dirty=False, resident=False, locked=None)
    if page.kind in PRIVATE_ANON:
        left.frame = Frame(frozenset({ZERO}), rules.LEFT, fading=page.kind == "droppable")
    elif not page.shared:
        # The manual allows only private anonymous memory.
        left.frame, left.murky = page.frame.copy(), True
    return left


def _resize(memory: Memory, process: Process, op: Op, _outcome: str) -> None:
    if not op.range:
        return
    slot, end = op.range.slot, op.range.end
    last = process.pages.get((slot, end - 1))
    for number in range(op.range.page + op.number, end):
        process.pages.pop((slot, number), None)
    for number in range(end, op.range.page + op.number):
        if last:
            process.pages[slot, number] = _grown(memory, last, number - end + 1)
        else:
            process.doubtful.add((slot, number))


def _grown(memory: Memory, last: Page, more: int) -> Page:
    """Return a page of a growing mapping, `more` pages after its last one."""
    if last.kind == "shared":
        # The object does not grow.
        return replace(last, frame=last.frame.copy(), murky=True, resident=False)
    number = last.at + more - (FAR if last.kind == "far" else 0) if last.at is not None else 0
    new = _new(memory, last.kind, number)
    new.prot, new.locked, new.dontfork, new.wipe = last.prot, last.locked, last.dontfork, last.wipe
    new.marked, new.tracked, new.murky = None, last.tracked, last.murky
    return new


def _mark(_memory: Memory, process: Process, op: Op, outcome: str) -> None:
    for page in process.within(op.range):
        page.marked = op.verb == "wp" if outcome == "ok" else None
        page.trapped = page.trapped and outcome != "ok"
        if outcome == "ok" and op.verb != "unwp":
            page.tracked = False


def _trap(_memory: Memory, process: Process, op: Op, outcome: str) -> None:
    # The operation succeeds as a whole or does nothing.
    for page in process.within(op.range) if outcome == "ok" else ():
        # Only a page in memory or in swap can be trapped.
        page.marked = op.verb == "rwp" and (True if page.held else None)
        page.trapped = op.verb == "rwp"
        page.tracked = page.tracked and op.verb != "rwp"


def _clear_refs(_memory: Memory, process: Process, op: Op, _outcome: str) -> None:
    if op.number != 1:
        for page in process.pages.values():
            page.dirty = False


def _lock(_memory: Memory, process: Process, op: Op, outcome: str) -> None:
    for page in process.within(op.range):
        # No source says whether droppable memory can be locked; unknown memory may be droppable.
        said = outcome == "ok" and page.kind != "droppable" and not page.murky
        page.locked = op.verb == "lock" if said else None
        page.resident = op.verb == "lock" and said
        if op.verb == "lock":
            _written_by_kernel(page)


def _hold(_memory: Memory, process: Process, op: Op, _outcome: str) -> None:
    process.holding = op.verb != "drop"
    for page in process.within(op.to and replace(op.to, count=1)):
        _written_by_kernel(page)


def _crowd(_memory: Memory, process: Process, op: Op, _outcome: str) -> None:
    process.crowd = op.number


def _populate(_memory: Memory, process: Process, op: Op, _outcome: str) -> None:
    for page in process.within(op.range):
        _written_by_kernel(page)


def _written_by_kernel(page: Page) -> None:
    """Make its mark undefined: the kernel may make it writable for itself, which lifts the mark."""
    if page.tracked is not False:
        page.marked = page.perhaps_marked


def _free(_memory: Memory, process: Process, op: Op, _outcome: str) -> None:
    # On an error, earlier pages may have been freed.
    for page in process.within(op.range):
        if page.kind in PRIVATE_ANON:
            page.frame.become(page.frame.allowed, rules.GIVEN_UP, fading=True)
            page.dirty, page.marked = False, page.perhaps_marked


def _dontneed(memory: Memory, process: Process, op: Op, outcome: str) -> None:
    for page in process.within(op.range):
        page.dirty, page.marked = False, page.perhaps_marked
        if page.shared:
            continue
        page.behind = memory.of_file(page.at) if page.at is not None else None
        fresh = page.behind.allowed if page.behind else frozenset({ZERO})
        ok = outcome == "ok"
        fading = page.kind == "droppable" or (page.frame.fading and not ok)
        page.frame.become(fresh if ok else fresh | page.frame.allowed, rules.DROPPED, fading=fading)


def _remove(memory: Memory, process: Process, op: Op, outcome: str) -> None:
    holes = {id(page.frame): page.frame for page in process.within(op.range) if page.shared}
    shows = memory.shows()
    for frame in holes.values():
        before: frozenset[Content] = frozenset() if outcome == "ok" else frame.allowed
        change(frame, {ZERO} | before, rules.HOLE, shows)
    for _, _, page in memory.pages():
        if id(page.frame) in holes or id(page.behind) in holes:
            page.marked, page.dirty, page.resident = page.perhaps_marked, False, False


def _inherit(_memory: Memory, process: Process, op: Op, outcome: str) -> None:
    # What a child gets from the range.
    for page in process.within(op.range):
        if op.word in ("dontfork", "dofork"):
            page.dontfork = op.word == "dontfork" if outcome == "ok" else None
        else:
            page.wipe = op.word == "wipeonfork" if outcome == "ok" else None


def _take(_memory: Memory, process: Process, op: Op, outcome: str) -> None:
    """Follow a `take`: page by page, as the two ranges may overlap."""
    for old, new in moved(op, outcome):
        page, place = process.pages.get(old), process.pages.get(new)
        if not page or not place:
            continue
        process.pages[new] = _arrived(page, place, op.word)
        emptied = Frame(frozenset({ZERO}), rules.TAKEN, fading=page.kind == "droppable")
        process.pages[old] = replace(
            page, frame=emptied, dirty=False, resident=False, marked=page.perhaps_marked
        )
    _doubt(process, op)


def _arrived(page: Page, place: Page, word: str) -> Page:
    """Return a page that has moved to the place of another page, whose mapping stays."""
    arrived = replace(
        place,
        frame=page.frame,
        behind=None,
        dirty=page.held,
        resident=page.resident,
        # The kernel moves nothing else; what a program then sees is undefined.
        murky=page.murky or place.murky or not {page.kind, place.kind} <= PRIVATE_ANON,
    )
    if word == "to-rwp":
        # Not a moved hole.
        return replace(arrived, marked=page.held or None, trapped=True)
    unmarked = page.marked is False and place.marked is False
    return replace(arrived, marked=False if unmarked else None)


def _doubt(process: Process, op: Op) -> None:
    """Make the marks of the target undefined: it was registered in another mode meanwhile.

    They may stay without effect. If source and target overlap, this also applies to the source.
    """
    old, new = {*positions(op.range)}, {*positions(op.target)}
    for at in old | new if old & new else new:
        place = process.pages.get(at)
        if place and place.marked is not False and op.word in ("all", "holes"):
            place.marked = place.tracked = place.trapped = None


def _scan(_memory: Memory, process: Process, op: Op, outcome: str) -> None:
    """Follow a `scan`: pages that it reports as written are protected until the next write."""
    seen = outcomes.report(outcome)
    for place in positions(op.range) if op.word != "look" else ():
        page = process.pages.get(place)
        if not page:
            continue
        if not seen:
            page.marked, page.tracked = None, page.tracked or None
            continue
        page.tracked, page.trapped = True, False
        if op.word == "quiet" or outcomes.WRITTEN in seen.letters.get(place[1], ""):
            page.marked = True
        elif not seen.complete and place[1] > max(seen.letters, default=0):
            page.marked = None


# The names are those of language/verbs.py.
EFFECTS: dict[str, Effect] = {
    "map": _map, "fork": _fork, "exit": _exit, "protect": _protect, "move": _move,
    "resize": _resize, "mark": _mark, "trap": _trap, "clear_refs": _clear_refs, "lock": _lock,
    "hold": _hold, "crowd": _crowd, "free": _free, "dontneed": _dontneed, "remove": _remove,
    "inherit": _inherit, "populate": _populate, "take": _take, "scan": _scan,
}  # fmt: skip

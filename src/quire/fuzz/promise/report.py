# SPDX-License-Identifier: GPL-2.0
"""What a hunt for broken promises came to: as text and as JSON."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from rich import box
from rich.table import Table
from rich.text import Text

from quire.arch import Architecture
from quire.fuzz.promise.detection import Detection
from quire.fuzz.promise.finding import Finding
from quire.fuzz.promise.hunt import Hunt
from quire.host.console import console

# Characters of a broken promise in the table of bugs.
WIDTH = 90


def show(hunt: Hunt, *, as_json: bool) -> None:
    """Print the totals and the findings."""
    if as_json:
        print(json.dumps(_as_json(hunt), indent=1))
        return
    out, tally = console(), hunt.tally
    rate = tally.programs * 60 / hunt.target.seconds if hunt.target.seconds else 0
    text = (
        f"{hunt.arch.name}: {tally.programs} programs on {hunt.target.label} in "
        f"{hunt.seconds:.0f} s, {rate:.0f} a minute; {tally.suspects} broke a promise, "
        f"{len(tally.unstable)} of them not again; "
    )
    text += f"{tally.known} broke what is known; " if tally.known else ""
    out.print(Text.assemble(text, (f"{len(hunt.findings)} findings", "bold")))
    for number, one in tally.unstable.items():
        out.print(Text(f"  not again: program {number}: {one.text}"))
    shrunk = {found.kind for found in hunt.findings}
    for kind, count in tally.kinds.most_common():
        if kind not in shrunk:
            out.print(Text(f"not shrunk: ×{count} {': '.join(kind)}"))
    for found in hunt.findings:
        programs = hunt.tally.kinds[found.kind]
        rule = found.broken[0].rule
        out.print(Text.assemble((f"broken {found.number}", "red"), f" ×{programs} {found.title}"))
        out.print(Text(f"  promised: {rule.promise} ({rule.source})"))
        out.print("\n".join(f"  {op.text()}" for op in found.program))


def _as_json(hunt: Hunt) -> dict[str, Any]:
    tally = hunt.tally
    return {
        "architecture": hunt.arch.name,
        "kernel": hunt.target.label,
        "programs": tally.programs,
        "seconds": hunt.seconds,
        "boots": hunt.target.boots,
        "suspects": tally.suspects,
        "known": tally.known,
        "unstable": {number: one.text for number, one in tally.unstable.items()},
        "confirmed": {number: one.text for number, one in tally.confirmed.items()},
        "kinds": [[*kind, count] for kind, count in tally.kinds.most_common()],
        "findings": [_finding(found) for found in hunt.findings],
    }


def _finding(found: Finding) -> dict[str, Any]:
    return {
        "number": found.number,
        "program": [op.text() for op in found.program],
        "broken": [
            {
                "rule": one.rule.name,
                "promise": one.rule.promise,
                "source": one.rule.source,
                "operation": one.verb,
                "seen": one.seen,
            }
            for one in found.broken
        ],
    }


def show_bugs(arch: Architecture, results: Sequence[Detection], *, as_json: bool) -> None:
    """Print a row per seeded bug."""
    if as_json:
        rows = [_bug(result) for result in results]
        print(json.dumps({"architecture": arch.name, "bugs": rows}, indent=1))
        return
    title = f"{arch.name} · seeded bugs, one kernel"
    table = Table(title=title, title_justify="left", box=box.SIMPLE_HEAD)
    table.add_column("bug", no_wrap=True)
    table.add_column("programs", justify="right")
    table.add_column("operations", justify="right")
    table.add_column("the broken promise, or why it is not looked for")
    for result in results:
        found = result.finding
        if result.reason:
            table.add_row(result.bug.name, "–", "–", result.reason)
            continue
        size = _size(found) if found else "missed"
        text = Text(found.title[:WIDTH] if found else "")
        table.add_row(result.bug.name, str(result.programs), size, text)
    console().print(table)


def _size(found: Finding) -> str:
    """How many operations are left after shrinking."""
    return str(len(found.program)) if found.program != found.original else ""


def _bug(result: Detection) -> dict[str, Any]:
    found = result.finding
    return {
        "bug": result.bug.name,
        "programs": result.programs,
        "operations": len(found.program) if found else None,
        "broken": found.title if found else None,
        "reason": result.reason,
    }

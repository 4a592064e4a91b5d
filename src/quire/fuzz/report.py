# SPDX-License-Identifier: GPL-2.0
"""What a campaign, or a search for seeded bugs, came to: as text and as JSON."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from rich import box
from rich.table import Table
from rich.text import Text

from quire.arch import Architecture
from quire.fuzz.campaign import Campaign
from quire.fuzz.cost import report as cost
from quire.fuzz.detection import Detection
from quire.host.console import console

# Characters of a difference in the table of bugs.
WIDTH = 90


def show(campaign: Campaign, *, as_json: bool) -> None:
    """Print what a campaign came to, and what its programs reached."""
    if as_json:
        print(json.dumps(_as_json(campaign), indent=1))
    else:
        _show(campaign)
    if campaign.guide:
        campaign.guide.report(quiet=as_json)


def show_bugs(arch: Architecture, results: Sequence[Detection], *, as_json: bool) -> None:
    """Print a row per bug."""
    if as_json:
        print(json.dumps(_bugs_as_json(arch, results), indent=1))
    else:
        console().print(_table(arch, results))


def _show(campaign: Campaign) -> None:
    """The totals, the excuses and the findings."""
    out, tally = console(), campaign.tally
    a, b = campaign.pair.a, campaign.pair.b
    spent = a.seconds + b.seconds
    rate = tally.programs * 2 * 60 / spent if spent else 0
    text = (
        f"{campaign.arch.name}: {tally.programs} programs on {a.label} and {b.label} in "
        f"{campaign.seconds:.0f} s, {rate:.0f} a minute per boot; {tally.suspects} differed, "
        f"{len(tally.unstable)} of them did not repeat on {a.label}, "
        f"{len(tally.troubled)} in trouble on {a.label}; "
    )
    out.print(Text.assemble(text, (f"{len(campaign.findings)} findings", "bold")))
    for name, count in tally.excused.most_common():
        reason = campaign.pair.excuses.reasons[name]
        out.print(Text(f"  excused in {count} programs: {name} ({reason})"))
    for finding in campaign.findings:
        out.print(Text.assemble((f"finding {finding.number}", "red"), f" {finding.title}"))
        out.print("\n".join(f"  {op.text()}" for op in finding.program))
    if campaign.hunt:
        cost.show(campaign.hunt)


def _as_json(campaign: Campaign) -> dict[str, Any]:
    """The same, and the differences of each finding."""
    pair, tally = campaign.pair, campaign.tally
    return {
        "architecture": campaign.arch.name,
        "sides": dict(zip("ab", pair.labels, strict=True)),
        "programs": tally.programs,
        "seconds": campaign.seconds,
        "boots": pair.a.boots + pair.b.boots,
        "suspects": tally.suspects,
        "unstable": len(tally.unstable),
        "troubled": len(tally.troubled),
        "excused": dict(tally.excused),
        "findings": [
            {
                "number": finding.number,
                "program": [op.text() for op in finding.program],
                "differences": finding.differences,
            }
            for finding in campaign.findings
        ],
        "cost": cost.as_json(campaign.hunt) if campaign.hunt else None,
    }


def _table(arch: Architecture, results: Sequence[Detection]) -> Table:
    table = Table(title=f"{arch.name} · seeded bugs", title_justify="left", box=box.SIMPLE_HEAD)
    table.add_column("bug", no_wrap=True)
    table.add_column("programs", justify="right")
    table.add_column("operations", justify="right")
    table.add_column("the first difference, or why it is not looked for")
    for result in results:
        size = str(len(result.finding.program)) if result.finding else "missed"
        title = result.finding.title if result.finding else ""
        if result.reason:
            table.add_row(result.bug.name, "–", "–", result.reason)
        else:
            table.add_row(result.bug.name, str(result.programs), size, title[:WIDTH])
    return table


def _bugs_as_json(arch: Architecture, results: Sequence[Detection]) -> dict[str, Any]:
    rows = [
        {
            "bug": result.bug.name,
            "programs": result.programs,
            "operations": len(result.finding.program) if result.finding else None,
            "difference": result.finding.title if result.finding else None,
            "reason": result.reason,
        }
        for result in results
    ]
    return {"architecture": arch.name, "bugs": rows}

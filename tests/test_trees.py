# SPDX-License-Identifier: GPL-2.0
"""Records of trees: what quire fit found, kept and rendered."""

from __future__ import annotations

import json
import runpy
from pathlib import Path
from typing import Any

import pytest
from conftest import ROOT

from documents import trees


def found(version: str, *fits: str, left: tuple[str, ...] = ()) -> dict[str, Any]:
    parts = [{"name": name, "fits": name in fits} for name in (*fits, *left)]
    return {"version": version, "commit": f"{version}-commit-of-it", "list": "series",
            "listed": True, "topics": parts}  # fmt: skip


@pytest.fixture
def record(tmp_path: Path) -> Any:
    """scripts/record-trees with a file of its own."""
    script = runpy.run_path(str(ROOT / "scripts/record-trees"))
    (tmp_path / "docs/results").mkdir(parents=True)
    script["main"].__globals__["FILE"] = tmp_path / trees.FILE

    def run(*found: dict[str, Any], words: tuple[str, ...] = ()) -> list[dict[str, Any]]:
        (tmp_path / "fit.json").write_text(json.dumps({"trees": found}))
        script["main"](str(tmp_path / "fit.json"), "stable", "example.org/linux", *words)
        known: list[dict[str, Any]] = json.loads((tmp_path / trees.FILE).read_text())
        return known

    return run


def test_versions_of_which_the_same_fits(record: Any, tmp_path: Path) -> None:
    some = [found(f"6.12.{n}", "ksm", "fixes/a", left=("zap",)) for n in (19, 20, 22)]
    record(*some, found("6.12.23", "ksm", "zap"))
    first, second = trees.rows(tmp_path)
    assert first[:5] == [
        "stable (example.org/linux)",
        "6.12.19 to 6.12.22, without 6.12.21",
        "6.12.19-comm … 6.12.22-comm",
        "`ksm`, 1 of `fixes`",
        "`zap`",
    ]
    assert second[1:5] == ["6.12.23", "6.12.23-comm", "`ksm`, `zap`", "–"]


def test_what_was_done_stays(record: Any) -> None:
    record(found("6.12.19", "ksm"), words=("booted=QEMU",))
    record(found("6.12.20", "ksm"))
    (old, _) = record(found("6.12.19", "zap"))
    assert (old["fits"], old["booted"]) == (["zap"], "QEMU")


def test_words_are_known(record: Any) -> None:
    with pytest.raises(SystemExit, match="unknown: boot"):
        record(found("6.12.19"), words=("boot=QEMU",))

# SPDX-License-Identifier: GPL-2.0
"""Recorded replies to patches of others: each fits a mail, and says what the patch was called."""

from __future__ import annotations

import tomllib
from typing import Any

import pytest
from conftest import ROOT

from quire.review.verdict import WIDTH

REPLIES = tomllib.loads((ROOT / "docs/results/replies.toml").read_text())["reply"]
# The exit status for what a patch was called before its first run.
STATUS = {"harmless": 0, "regression": 1, "does not apply": 2}


@pytest.mark.parametrize("reply", REPLIES, ids=lambda reply: str(reply["name"]))
def test_a_reply(reply: dict[str, Any]) -> None:
    lines = reply["text"].splitlines()
    assert reply["status"] == STATUS[reply["called"]]
    if reply["status"] == 2:
        assert any(line.startswith("  remedy: ") for line in lines)
        return
    assert max(map(len, lines)) <= WIDTH
    assert len(lines) <= (20 if reply["status"] == 0 else 30)
    assert lines[0].startswith("Regression: ") == (reply["status"] == 1)


def test_both_known_regressions_are_named_first() -> None:
    found = {reply["name"]: reply["text"].splitlines()[:3] for reply in REPLIES if reply["status"]}
    assert found["remap-revert"][0].startswith("Regression: mremap 4 KiB takes 116.5% more")
    assert found["mprotect-batch"][0].startswith("Regression: mprotect 4 KiB takes 102.6% more")
    assert found["mprotect-batch"][1].startswith("By patch 2/2: mm/mprotect: change the protection")

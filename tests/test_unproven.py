# SPDX-License-Identifier: GPL-2.0
"""Every case has been seen to fail: with a seeded bug, or on stock. The others are listed."""

from fnmatch import fnmatchcase
from itertools import chain

from conftest import ROOT
from guest_cases import cases

from quire.source import line
from quire.test import expected, seeded

# One name a line. A case that is proven leaves the list, and none may be added.
LIST = ROOT / "tests/unproven.txt"
MOST = 268
# These run a case that is wrong, and read what the harness says of it.
OF_THE_HARNESS = "selftest."


def patterns() -> dict[str, list[str]]:
    """By table, what seeded bugs and known failures of stock name."""
    tables = {}
    for known in line.known(ROOT):
        bugs = seeded.read(known.seeded)
        tables[str(known.seeded)] = list(chain(*(bug.cases for bug in bugs)))
        entries = (entry for entry in expected.read(known.expected) if entry.tree == "stock")
        tables[str(known.expected)] = list(chain(*(entry.cases for entry in entries)))
    return tables


def test_every_pattern_names_a_case() -> None:
    names = list(chain(*cases().values()))
    dead = [
        f"{table}: {pattern}"
        for table, listed in patterns().items()
        for pattern in listed
        if not any(fnmatchcase(name, pattern) for name in names)
    ]
    assert dead == []


def test_every_case_has_been_seen_to_fail() -> None:
    known = list(chain(*patterns().values()))
    unproven = {
        case
        for case, names in cases().items()
        if not case.startswith(OF_THE_HARNESS)
        and not any(fnmatchcase(name, pattern) for name in names for pattern in known)
    }
    listed = LIST.read_text().split()
    assert sorted(listed) == sorted(unproven)
    assert len(listed) <= MOST

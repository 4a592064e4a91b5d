# SPDX-License-Identifier: GPL-2.0
"""Every case has been seen to fail: with a seeded bug, or on stock. The others have a reason."""

import re
from fnmatch import fnmatchcase
from itertools import chain

from conftest import ROOT
from guest_cases import cases

from quire.arch import ARCHITECTURES
from quire.source import line
from quire.suites import expected, seeded

# A case a line, and why no bug can be seeded that it sees. A case that is proven leaves the list.
LIST = ROOT / "tests/unproven.txt"
# These run a case that is wrong, and read what the harness says of it.
OF_THE_HARNESS = "selftest."


def patterns() -> dict[str, list[str]]:
    """By table, what seeded bugs and known failures of stock name."""
    tables = {}
    for known in line.known(ROOT):
        bugs, proofs = seeded.read(known.seeded), seeded.proofs(known.seeded)
        listed = [*(bug.cases for bug in bugs), *(proof.cases for proof in proofs)]
        tables[str(known.seeded)] = list(chain(*listed))
        # What fails on UML fails for UML's sake.
        entries = (
            entry
            for entry in expected.read(known.file("expected"))
            if entry.tree == "stock" and entry.architectures != ("um",)
        )
        tables[str(known.file("expected"))] = list(chain(*(entry.cases for entry in entries)))
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


def test_a_proof_names_cases_one_by_one() -> None:
    names = set(chain(*cases().values()))
    for known in line.known(ROOT):
        bugs = {bug.name for bug in seeded.read(known.seeded)}
        for proof in seeded.proofs(known.seeded):
            assert proof.bug in bugs
            assert proof.architecture.partition("/")[0] in ARCHITECTURES
            assert set(proof.cases) <= names, proof.bug


def test_every_case_has_been_seen_to_fail() -> None:
    # A whole suite is named where any of its cases will do: the kernel itself finds the bug.
    listed = chain(*patterns().values())
    known = [pattern for pattern in listed if ".*" not in pattern]
    unproven = {
        case
        for case, runs in cases().items()
        if not case.startswith(OF_THE_HARNESS)
        and not any(fnmatchcase(name, pattern) for name in runs for pattern in known)
    }
    reasons = dict(line.split(": ", 1) for line in LIST.read_text().splitlines())
    assert sorted(reasons) == sorted(unproven)
    assert len(set(reasons.values())) == len(reasons), "one reason for several cases"


def test_the_status_of_each_child_is_looked_at() -> None:
    ignored = re.compile(r"\bwait\(NULL|\bwaitpid\([^,]+, NULL")
    files = [
        path for path in (ROOT / "guest/tests").rglob("*.c") if ignored.search(path.read_text())
    ]
    assert files == []

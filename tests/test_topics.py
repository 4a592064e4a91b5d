# SPDX-License-Identifier: GPL-2.0
"""Topics alone: what is tried, what is recorded, and what makes a proof stale."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from conftest import Quire, patch_text, said
from test_matrix import kernel

from documents import alone
from quire.boot.ktap import Status
from quire.check import topics
from quire.host.errors import GuestLost
from quire.source import series
from quire.suites.outcome import Case, Outcome

KEYS = [("series", "ksm", "arm64"), ("series", "mremap", "arm64")]


def outcome(**statuses: Status) -> Outcome:
    cases = tuple(Case(f"a.{name}", status) for name, status in statuses.items())
    return Outcome("arm64-it", kernel(), cases, "the/log")


def test_a_topic_passes_what_stock_passes() -> None:
    stock = outcome(one=Status.PASS, two=Status.PASS, three=Status.FAIL, four=Status.SKIP)
    judge = topics.judge
    assert judge(stock, stock) == ""
    assert judge(stock, outcome(one=Status.PASS, two=Status.PASS, three=Status.PASS)) == ""
    assert judge(stock, outcome(one=Status.PASS)).splitlines() == [
        "a.two: missing, passes on stock",
        "whole log: the/log",
    ]
    assert "a.one: skip, passes" in judge(stock, outcome(one=Status.SKIP, two=Status.PASS))
    assert "a.one: fail, passes" in judge(stock, outcome(one=Status.FAIL, two=Status.PASS))
    lost = Outcome("arm64-it", kernel(), lost=GuestLost("the guest hung", "there", "read it"))
    assert "arm64-it: quire: the guest hung" in judge(stock, lost)
    assert judge(outcome(), outcome()) == "stock passes nothing"


def file(quire: Quire) -> Path:
    return quire.project / "lines/6.12/topics.toml"


@pytest.fixture
def words(quire: Quire, tree: Path) -> tuple[str, ...]:
    """A run that may begin with two topics, on one architecture."""
    assert not file(quire).exists()
    for name in topics.FRAGMENTS:
        (quire.project / "configs" / name).write_text("")
    return ("check", "--topics", "--source", str(tree), "ARCH=arm64")


def test_a_proof_is_recorded_and_kept_until_a_patch_changes(
    quire: Quire, words: tuple[str, ...]
) -> None:
    done = quire.passes(*words)
    assert "passes alone (arm64): mremap: 2 cases" in done.stdout
    proofs = topics.read(file(quire))
    assert sorted(proofs) == KEYS
    assert (proofs[KEYS[0]].passed, proofs[KEYS[0]].base) == (2, "6.12.117")
    done = quire.passes(*words, "-v")
    assert "passes alone: mremap: proven 20" in done.stdout
    assert "qemu" not in done.stderr
    # What ksm needs is a part of it from now on.
    series = quire.project / "patches/linux-6.12.y/series"
    series.write_text("# needs: ksm mremap/mm-move-runs: text\n" + series.read_text())
    done = quire.passes(*words)
    assert "passes alone: mremap: proven 20" in done.stdout
    assert "passes alone (arm64): ksm: 2 cases" in done.stdout
    changed = topics.read(file(quire))
    assert changed[KEYS[0]].patches != proofs[KEYS[0]].patches
    assert changed[KEYS[1]] == proofs[KEYS[1]]


def test_a_topic_that_fails_what_stock_passes(quire: Quire, words: tuple[str, ...]) -> None:
    """On the fake guest, a kernel with mremap's patches fails."""
    done = quire(*words, FAKE_QEMU="worse")
    assert done.returncode == 1
    assert "fake.bad: fail, passes on stock" in done.stdout
    assert list(topics.read(file(quire))) == KEYS[:1]


def test_a_topic_that_does_not_apply_or_build(quire: Quire, words: tuple[str, ...]) -> None:
    folder = quire.project / "patches/linux-6.12.y"
    (folder / "more").mkdir()
    context = [f"line {n}" for n in (17, 18, 19, 21, 22, 23)]
    mail = patch_text("mm: more", "run 20", "run 200", 20, context)
    (folder / "more/0001-mm-more.patch").write_text(mail)
    ksm = folder / "ksm/0001-ksm-look-less.patch"
    ksm.write_text(ksm.read_text().replace("+ksm", "+#error"))
    (folder / "series").write_text((folder / "series").read_text() + "more/0001-mm-more.patch\n")
    done = quire(*words)
    said(done, 1, "2 of 3 checks", "applies alone: more", "builds alone (arm64): ksm")
    assert list(topics.read(file(quire))) == KEYS[1:]


def test_time_is_limited_and_topics_are_chosen(quire: Quire, words: tuple[str, ...]) -> None:
    done = quire.passes(*words, "--budget", "0")
    assert done.stdout.count("not tried in this run") == 2
    quire.passes(*words, "--only", "ksm", "--size", "64")
    (proof,) = topics.read(file(quire)).values()
    assert (proof.topic, proof.sizes) == ("ksm", (64,))
    assert "ksm: proven" in quire.passes(*words, "--size", "64", "--budget", "0").stdout
    assert "proven" not in quire.passes(*words, "--size", "4", "--budget", "0").stdout
    done = quire.passes(*words, "--size", "64", "--changed")
    assert "mremap: never tried" in done.stdout
    # Named, it is tried again.
    assert "ksm: 2 cases" in quire.passes(*words, "--only", "ksm").stdout
    said(quire("check", "--quick", "--budget", "3"), 2, "--budget has no effect without --topics")


def test_the_table_has_needs_and_proofs(project: Path) -> None:
    folder = project / "patches/linux-6.12.y"
    needs = "# needs: ksm mremap/mm-move-runs: text\n# needs: ksm mremap/mm-move-more: text\n"
    (folder / "series").write_text(needs + (folder / "series").read_text())
    (folder / "series.old").write_text("# versions: -6.12.99\nksm/0001-ksm-look-less.patch\n")
    key = series.read(folder / "series").only(["mremap"]).changes()
    proof = topics.Proof("series", "mremap", "arm64", key, 1234, "6.12.1", "2026-01-02", "f00d")
    stale = replace(proof, architecture="x86_64", patches="other")
    topics.write(project / "lines/6.12/topics.toml", [proof, stale, replace(proof, topic="gone")])
    assert list(alone.rows(project)) == [
        [
            "6.12.100-",
            "`mremap`",
            "2",
            "–",
            "2",
            "0001: ksm; 0002: ksm",
            "1,234",
            "stale",
            "2026-01-02, f00d",
        ],
        ["6.12.100-", "`ksm`", "1", "mremap/0001, mremap/0002: text", "3", "–", "–", "–", "–"],
        ["-6.12.99", "`ksm`", "1", "–", "1", "–", "–", "–", "–"],
    ]
    (folder / "series").write_text("# needs: ksm mremap\n" + (folder / "series").read_text())
    assert list(alone.rows(project))[1][3] == "all of `mremap`; mremap/0001, mremap/0002: text"


def test_the_table_of_gains_has_what_was_counted_alone(project: Path) -> None:
    folder = project / "patches/linux-6.12.y"
    key = series.read(folder / "series").only(["mremap"]).changes()
    gain = topics.Gain("mremap 64", 262.4, 92.0)
    proof = topics.Proof("series", "mremap", "arm64", key, 9, "6.12.1", "", "", (), (gain,))
    old = replace(proof, topic="ksm")
    topics.write(project / "lines/6.12/topics.toml", [proof, old])
    known = alone.counted(project)
    assert known == {("6.12", "mremap", "mremap 64"): {"arm64": gain}}
    rows = list(alone.gains(known, lambda line, arch, name: f"{line} {arch} {name}"))
    assert rows == [["6.12", "`mremap`", "mremap 64", "262 → 92.0 (6.12 arm64 mremap 64)", "–"]]


def test_the_file_is_read_back(tmp_path: Path) -> None:
    proof = topics.Proof("series", "ksm", "arm64", "c0ffee", 7, "6.12.1", "2026-01-01", "", (4, 64))
    gains = (topics.Gain("ksm-scan merged", 12.5, 11), topics.Gain("fork 64", 3.0, 2.0))
    others = [
        replace(proof, topic="a", gains=gains),
        replace(proof, architecture="x86_64", sizes=()),
    ]
    topics.write(tmp_path / "topics.toml", [proof, *others])
    assert set(topics.read(tmp_path / "topics.toml").values()) == {proof, *others}

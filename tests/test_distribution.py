# SPDX-License-Identifier: GPL-2.0
"""Our configurations compared with Debian's: on dictionaries, and complete runs on a fake apt."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from conftest import ROOT, Quire, said
from known import ARM64, toml

from quire.arch import ARCHITECTURES
from quire.check import distribution
from quire.check.distribution import Differing, Listed
from quire.host.errors import UserError
from quire.source.line import Line, known

OURS = {"CONFIG_KSM": "y", "CONFIG_HZ": "250", "CONFIG_LSM": '""', "CONFIG_IDLE": "y"}
DEBIANS = {"CONFIG_KSM": "y", "CONFIG_HZ": "250", "CONFIG_ZRAM": "m", "CONFIG_DAMON": "y"}
DIFFERENCES = [Differing("CONFIG_DAMON", "n", "y"), Differing("CONFIG_IDLE", "y", "n")]
LISTED = [
    Listed(("CONFIG_DAM*",), ("arm64", "x86_64"), "n", "acts only when told"),
    Listed(("CONFIG_IDLE",), ("arm64",), "y", "the guest looks through it"),
]


def troubles(found: list[Differing], lines: list[Listed]) -> dict[str, str]:
    """The troubles on arm64, by option or pattern."""
    results = distribution.judge(ARM64, found, lines)
    return {result.subject: result.trouble for result in results if result.trouble}


def test_what_differs() -> None:
    ours = {**OURS, "CONFIG_ZRAM": "y"}
    options = {*ours, *DEBIANS, "CONFIG_NEITHER"}
    assert distribution.differences(options, ours, DEBIANS) == DIFFERENCES
    # Options defined elsewhere are ignored.
    assert distribution.differences({"CONFIG_KSM"}, ours, DEBIANS) == []


def test_a_listed_difference_is_no_trouble() -> None:
    (result,) = distribution.judge(ARM64, DIFFERENCES, LISTED)
    assert (result.subject, result.trouble) == ("2 options differ, all with a reason", "")


def test_an_unlisted_difference() -> None:
    assert troubles(DIFFERENCES, LISTED[:1]) == {
        "CONFIG_IDLE": "ours y, Debian's n: not in debian-differences.toml"
    }


def test_a_listed_value_that_is_not_ours() -> None:
    lines = [LISTED[0], Listed(("CONFIG_IDLE",), ("arm64",), "m", "once a module")]
    assert set(troubles(DIFFERENCES, lines)) == {"CONFIG_IDLE"}


def test_another_architectures_line_covers_nothing_and_is_not_stale() -> None:
    lines = [LISTED[0], Listed(("CONFIG_IDLE", "CONFIG_GONE"), ("x86_64",), "y", "there")]
    assert set(troubles(DIFFERENCES, lines)) == {"CONFIG_IDLE"}


def test_each_pattern_of_a_line_may_be_stale() -> None:
    lines = [Listed(("CONFIG_DAMON", "CONFIG_GONE*"), ("arm64",), "n", "why"), LISTED[1]]
    assert list(troubles(DIFFERENCES, lines)) == ["CONFIG_GONE*"]


def test_what_depends_on_the_compiler_is_not_compared() -> None:
    lines = [*LISTED, Listed(("CONFIG_CC_*",), ("arm64",), "any", "the compiler")]
    assert not troubles(DIFFERENCES, lines)
    assert not troubles([*DIFFERENCES, Differing("CONFIG_CC_HAS", "y", "n")], lines)


@pytest.mark.parametrize(
    ("line", "what"),
    [
        ('ours = "y"', "lacks 'why'"),
        ('ours = "y"\nwhy = 3', "3 is not of type str"),
        ('ours = "y"\nwhy = "a"\nreason = "b"', "has no key reason"),
        ('ours = "y"\nwhy = " "', "lacks its why"),
    ],
)
def test_a_bad_line(tmp_path: Path, line: str, what: str) -> None:
    file = tmp_path / "file"
    file.write_text(
        f"# comment\n{toml('difference', options=['CONFIG_A'], architectures=['arm64'])}{line}\n"
    )
    with pytest.raises(UserError) as caught:
        distribution.read(file)
    assert what in caught.value.text()


def test_an_unknown_architecture(tmp_path: Path) -> None:
    words = {"options": ["CONFIG_A"], "architectures": ["sparc"], "ours": "y", "why": "why"}
    (tmp_path / "file").write_text(toml("difference", **words))
    with pytest.raises(UserError, match="unknown architecture 'sparc'"):
        distribution.read(tmp_path / "file")


@pytest.mark.parametrize("of", known(ROOT), ids=lambda line: line.name)
def test_our_file_can_be_read(of: Line) -> None:
    lines = [entry for file in of.differences for entry in distribution.read(file)]
    assert {name for line in lines for name in line.architectures} == set(ARCHITECTURES)
    assert all(p.startswith("CONFIG_") for line in lines for p in line.options)


def kconfig_tree(tree: Path, extra: str = "") -> None:
    """The Kconfig files in ROOTS, each with one option; `extra` in mm's."""
    for name in distribution.ROOTS:
        path = tree / name.format(srcarch="arm64")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"config {path.parent.name.upper()}_ROOT\n\tbool\n")
    (tree / "mm/Kconfig").write_text(extra)


def test_options_of_kconfig_files(tree: Path) -> None:
    kconfig_tree(
        tree,
        'menuconfig SWAP\n\tbool "Swap"\n\thelp\n\t  If you config this option\n'
        'choice\n\tconfig INDENTED\nendchoice\nsource "arch/$(SRCARCH)/Kconfig.own"\n'
        'source "drivers/Kconfig"\nsource "mm/Kconfig"\n',
    )
    (tree / "arch/arm64/Kconfig.own").write_text("config OWN\n")
    (tree / "drivers/Kconfig").write_text("config DRIVER\n")
    found = distribution.options(tree, "arm64", ["mm/Kconfig"], ["mm/", "arch/{srcarch}/"])
    assert found == {"CONFIG_SWAP", "CONFIG_INDENTED", "CONFIG_OWN"}
    with pytest.raises(UserError, match="lacks a Kconfig file"):
        distribution.options(tree, "arm64", ["block/Kconfig"], [])


def rows(quire: Quire, tree: Path) -> dict[str, str]:
    """The findings of `quire check --debian-config`, by subject."""
    words = ("check", "--quick", "--debian-config", "--json", "ARCH=arm64", "--source", str(tree))
    done = quire(*words)
    assert done.stdout, done.stderr
    found = [row for row in json.loads(done.stdout) if row["check"].startswith("configuration")]
    assert done.returncode == 1 or not any(row["trouble"] for row in found)
    return {row["subject"]: row["trouble"] for row in found}


def test_the_whole_way(quire: Quire, tree: Path, archive: Path) -> None:
    kconfig_tree(tree, "config FAKE\nconfig DAMON\n")
    file = quire.project / "lines/6.12/debian-differences.toml"
    assert list(rows(quire, tree)) == ["CONFIG_DAMON"]
    words = {"architectures": ["arm64"], "why": "acts only when told"}
    file.write_text(toml("difference", options=["CONFIG_DAMON"], ours="n", **words))
    assert rows(quire, tree) == {"1 options differ, all with a reason": ""}
    asked = (archive / "asked").read_text()
    assert "APT::Architecture=arm64" in asked
    assert asked.count("download") == 1
    file.write_text(
        file.read_text() + toml("difference", options=["CONFIG_FAKE"], ours="y", **words)
    )
    assert list(rows(quire, tree)) == ["CONFIG_FAKE"]


def test_a_version_that_debian_does_not_offer(quire: Quire, tree: Path, archive: Path) -> None:
    kconfig_tree(tree)
    (tree / "Makefile").write_text((tree / "Makefile").read_text().replace("117", "118"))
    done = quire("check", "--quick", "--debian-config", "ARCH=arm64", "--source", str(tree))
    what = "Debian offers no linux-config-6.12 6.12.118 for arm64"
    said(done, 2, what, "offered: 6.12.117-1")

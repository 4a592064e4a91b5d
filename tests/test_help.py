# SPDX-License-Identifier: GPL-2.0
"""Help and lists: commands by purpose, the words that each takes, benchmarks, cases."""

from __future__ import annotations

import re

import pytest
from conftest import ROOT

from quire import cli, commands
from quire.measure import workloads
from quire.measure.workloads import Catalogue
from quire.suites import suite

WORKLOADS = ROOT / "guest/workloads"


def test_help_has_each_command_once_in_its_group() -> None:
    text = cli.parser().format_help()
    titles = re.findall(r"^(.*):$", text, re.M)
    assert titles == ["options", *commands.GROUPS]
    assert re.findall(r"^  (\w+) +[A-Z]", text, re.M) == list(commands.NAMES)
    modules = {path.stem for path in (ROOT / "src/quire/commands").glob("*.py")}
    assert modules - {"__init__", "options"} == set(commands.NAMES)


@pytest.mark.parametrize(
    ("name", "words"),
    [("apply", {"O"}), ("export", {"O"}), ("check", {"ARCH", "CROSS_COMPILE", "O"})],
)
def test_a_command_names_only_the_words_it_takes(
    name: str, words: set[str], capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        cli.parser([name]).parse_args([name, "--help"])
    (text,) = re.findall(r"^words, as kbuild's: (.*)$", capsys.readouterr().out, re.M)
    assert {word.partition("=")[0] for word in text.split()} == words


def test_bench_lists_what_each_benchmark_measures() -> None:
    known = {workload.name for workload in Catalogue.read(WORKLOADS).workloads}
    assert workloads.summaries(WORKLOADS).keys() == known


def test_a_benchmark_is_chosen_by_its_name_in_tables() -> None:
    catalogue = Catalogue.read(WORKLOADS)
    (benchmark,) = catalogue.benchmarks(["swapout zero 64"])
    assert benchmark.words()[1:] == ("swapout", "size=64", "data=zero")
    assert {each.label for each in catalogue.benchmarks(["swapout zero"])} == {"swapout zero"}
    titles = [each.title for each in catalogue.benchmarks()]
    assert len(titles) == len(set(titles))


def test_the_cases_are_listed_without_a_boot() -> None:
    cases = suite.listing(ROOT / "guest/tests")
    # A macro for three kinds of range, one for swap, a tag, one that only the self-test runs.
    for case in ("ksm.pair_file", "swapout.distinct", "fork.swapped", "fixes.free_merged @fixes"):
        assert case in cases
    names = [case.partition(" ")[0] for case in cases]
    assert len(names) == len(set(names)) > 600
    assert not [name for name in names if not re.fullmatch(r"\w+\.\w+", name)]

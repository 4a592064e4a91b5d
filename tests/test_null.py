# SPDX-License-Identifier: GPL-2.0
"""What code placement alone changes: kernels of one source, placed otherwise."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from conftest import SOURCE, Quire, line_patch, said
from test_flow import keep_workloads

from quire.host.errors import UserError
from quire.measure import null
from quire.review.verdict import WIDTH

CONCERNS = '[[concern]]\nfiles = ["mm/mremap.c"]\nrows = ["mremap"]\nprograms = false\n'


def test_each_number_is_another_placement() -> None:
    most = len(null.PLACEMENTS)
    assert len({null.flags(number) for number in range(1, most + 1)}) == most
    assert null.flags(most) == "-falign-functions=128:113:16"
    with pytest.raises(UserError, match="8 placements"):
        null.flags(most + 1)
    with pytest.raises(UserError, match="needs gcc's placement"):
        null.flags(1, "-19")


def test_the_spread_is_a_share_of_side_a() -> None:
    found = null.spread([100, 99, 101], [200, 210, 200])
    assert (found.kernels, found.insns, found.cycles) == (2, 0.02, 0.05)
    assert found.text == "placement alone 2.00%, est. cycles 5.0%"
    assert null.spread([100, 100], [0, 0]).text == "placement alone 0.00%"


def test_bench(quire: Quire, tree: Path) -> None:
    """The fake guest counts the characters of the kernel, which has its flags in it."""
    keep_workloads(quire.project, "mremap")
    words = ("bench", "mremap", "--source", str(tree), "ARCH=arm64", "--json")
    (arch,) = json.loads(quire.passes(*words, "--null", "3").stdout)["architectures"]
    (row,) = arch["rows"]
    last = len("// -falign-functions=128:49:16\n")
    assert row["placement_alone"]["kernels"] == 3
    assert row["placement_alone"]["insns"] == pytest.approx(last / (256000 - len(SOURCE)))
    assert row["placement_alone"]["cycles"] is None
    assert len(list(quire.build.glob("log/kernel-stock-placed-*"))) == 3
    # Counted once.
    quire.passes(*words, "--null", "3", FAKE_QEMU="panic", FAKE_MAKE="fail")
    assert "placement_alone" not in quire.passes(*words).stdout
    text = quire.passes(*words[:-1], "--null", "3").stdout
    assert "placement alone 0.01%" in " ".join(text.split())
    said(quire(*words, "--null", "9"), 2, "--null has 8 placements")


def costlier(quire: Quire, tree: Path, tmp_path: Path) -> tuple[str, ...]:
    """The words that report a series by which mremap costs 3.6 % more."""
    keep_workloads(quire.project, "mremap")
    (quire.project / "guest/workloads/concerns.toml").write_text(CONCERNS)
    long, series = "x" * 9000, tmp_path / "topic.mbox"
    (tree / "mm/mremap.c").write_text(SOURCE.replace("line 8\n", f"{long}\n"))
    series.write_text(line_patch("mm: less", 8, "run 8").replace("-line 8\n", f"-{long}\n"))
    return ("report", str(series), "--source", str(tree), "ARCH=arm64")


def test_a_reply_shows_each_change_beside_it(quire: Quire, tree: Path, tmp_path: Path) -> None:
    words = (*costlier(quire, tree, tmp_path), "--null", "2")
    done = quire(*words)
    assert done.returncode == 1, done.stderr
    lines = done.stdout.splitlines()
    at = next(at for at, line in enumerate(lines) if line.startswith("  mremap 64 KiB "))
    assert lines[at].endswith("+3.6%")
    assert lines[at + 1] == "    placement alone 0.01% (2 kernels)"
    assert max(map(len, lines)) <= WIDTH
    assert "--null 2" in lines[-1]


def test_a_change_that_placement_explains_is_no_regression(
    quire: Quire, tree: Path, tmp_path: Path
) -> None:
    keep_workloads(quire.project, "mremap")
    (quire.project / "guest/workloads/concerns.toml").write_text(CONCERNS)
    # With so long a kernel, little is left to count, of which the flags are much.
    long, series = "x" * 254500, tmp_path / "topic.mbox"
    (tree / "mm/mremap.c").write_text(SOURCE.replace("line 9\n", f"{long}\n"))
    text = line_patch("mm: less", 8, "r 8").replace(" line 9\n", f" {long}\n")
    series.write_text(text)
    words = ("report", str(series), "--source", str(tree), "ARCH=arm64", "--limit", "0.1")
    assert quire(*words).returncode == 1
    done = quire.passes(*words, "--null", "3")
    assert done.stdout.startswith("No regression found.\n")


def test_cycles_have_a_spread_of_their_own(quire: Quire, tree: Path, tmp_path: Path) -> None:
    words = (*costlier(quire, tree, tmp_path), "--null", "1", "--cycles")
    done = quire(*words)
    assert done.returncode == 1, done.stderr
    assert "    placement alone 0.01%, est. cycles 0.0% (1 kernel)\n" in done.stdout

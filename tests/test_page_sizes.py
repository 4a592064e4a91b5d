# SPDX-License-Identifier: GPL-2.0
"""Architectures that differ in the size of a page: a file that says what it changes."""

from __future__ import annotations

from pathlib import Path

import pytest
from known import ARM64

from quire.arch import ARCHITECTURES, KNOWN, architecture, read
from quire.host.errors import UserError
from quire.host.project import find
from quire.measure import workloads
from quire.measure.workloads import Benchmark, Catalogue, Workload
from quire.source import line

SIZES = ("arm64-16k", "arm64-64k")


@pytest.mark.parametrize("name", SIZES)
def test_a_page_size_is_arm64_but_for_what_it_says(name: str) -> None:
    arch = architecture(name)
    assert name not in ARCHITECTURES
    assert (arch.kbuild, arch.guest, arch.aliases) == ("arm64", "arm64", ())
    assert (arch.image, arch.machine_args) == (ARM64.image, ARM64.machine_args)
    # Its configurations have both options, and the first architecture that has its own decides.
    names = list(KNOWN)
    assert arch.option != ARM64.option
    assert names.index(name) < names.index("arm64")


@pytest.mark.parametrize("name", SIZES)
def test_each_line_has_its_configuration(name: str) -> None:
    for known in line.known(find().root):
        *common, own = known.fragments[name]
        assert tuple(common) == known.fragments["arm64"]
        assert f"{architecture(name).option}=y" in own.read_text()


def test_rows_have_its_folio_sizes() -> None:
    row, plain = Workload("row"), Workload("plain", sizes=())
    benchmarks = [*(Benchmark(row, size) for size in workloads.SIZES), Benchmark(plain, None)]
    assert workloads.on_architecture(ARM64, benchmarks) == benchmarks
    found = [
        benchmark.size
        for benchmark in workloads.on_architecture(architecture("arm64-64k"), benchmarks)
    ]
    assert found == [64, 256, 2048, 8192, None]


def test_rows_of_arm64_alone_run_there() -> None:
    only = Catalogue.read(find().guest / "workloads").benchmarks(["migrate-touched"], [64])
    assert [
        benchmark.size for benchmark in workloads.on_architecture(architecture("arm64-64k"), only)
    ]


def test_like_what_is_not_there(tmp_path: Path) -> None:
    (tmp_path / "new.toml").write_text('like = "old"\n')
    with pytest.raises(UserError, match=r"new\.toml"):
        read(tmp_path / "new.toml")

# SPDX-License-Identifier: GPL-2.0
"""The list of symbols for the plugin, made from System.map."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from known import ARM64

from quire.boot import counter
from quire.host.errors import BuildFailed
from quire.kernels.kernel import Kernel, Toolchain
from quire.source.base import Base
from quire.source.tree import Tree
from quire.source.version import parse

SYSTEM_MAP = "ffff2000 T second\nffff1000 t first\nffff3000 D data\nffff4000 W weak\n"


@pytest.fixture
def kernel(tmp_path: Path) -> Kernel:
    (tmp_path / "System.map").write_text(SYSTEM_MAP)
    tree = Tree("test", Base("test", parse("6.12.117"), "test", "0", tmp_path), None, tmp_path)
    return Kernel(ARM64, tree, "", Toolchain("", ""), tmp_path, "")


def test_code_by_address(kernel: Kernel) -> None:
    text = counter.symbols(kernel).read_text()
    assert text == "ffff1000 first\nffff2000 second\nffff4000 weak\n"


def test_machines_that_start_at_once(kernel: Kernel) -> None:
    """Each caller finds the complete file, and no temporary file remains."""
    many = "".join(f"{number:x} T f{number}\n" for number in range(1, 20000))
    kernel.system_map.write_text(many)
    with ThreadPoolExecutor(8) as pool:
        made = list(pool.map(counter.symbols, [kernel] * 8))
    assert {path.read_text().count("\n") for path in made} == {19999}
    assert {path.name for path in kernel.objdir.iterdir()} == {"System.map", made[0].name}


def test_no_symbols(kernel: Kernel) -> None:
    kernel.system_map.write_text("ffff3000 D data\n")
    with pytest.raises(BuildFailed, match="no code symbols"):
        counter.symbols(kernel)

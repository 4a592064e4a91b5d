# SPDX-License-Identifier: GPL-2.0
"""Check docs/dev/architecture.md: imports between the folders of src/quire have no cycle."""

from __future__ import annotations

import ast
from graphlib import TopologicalSorter
from pathlib import Path

from conftest import ROOT

SOURCE = ROOT / "src/quire"


def part(path: Path) -> str:
    """The folder that contains a file, or the file itself at the top level."""
    relative = path.relative_to(SOURCE)
    return relative.parts[0] if len(relative.parts) > 1 else relative.stem


def imported(path: Path) -> set[str]:
    """The parts of quire that a file imports."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("quire"):
            names = [f"quire.{alias.name}" for alias in node.names]
            modules = [node.module] if node.module != "quire" else names
            found |= {module.split(".")[1] for module in modules}
    return found - {part(path)}


def test_no_folder_is_imported_by_what_it_imports() -> None:
    graph: dict[str, set[str]] = {}
    for path in SOURCE.rglob("*.py"):
        graph.setdefault(part(path), set()).update(imported(path))
    # CycleError names the cycle.
    order = list(TopologicalSorter(graph).static_order())
    assert order.index("host") < order.index("source") < order.index("build") < order.index("boot")


def test_every_folder_is_explained() -> None:
    text = (ROOT / "docs/dev/architecture.md").read_text()
    folders = [path.parent.name for path in SOURCE.glob("*/__init__.py")]
    assert [name for name in folders if f"| `{name}` |" not in text] == []

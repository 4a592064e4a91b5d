# SPDX-License-Identifier: GPL-2.0
"""Check docs/dev/architecture.md: imports between the folders of src/quire have no cycle."""

from __future__ import annotations

import ast
import re
from graphlib import TopologicalSorter
from pathlib import Path

from conftest import ROOT

SOURCE, ARCHITECTURE = ROOT / "src/quire", ROOT / "docs/dev/architecture.md"


def part(path: Path) -> str:
    """The folder that contains a file, or the file itself at the top level."""
    relative = path.relative_to(SOURCE)
    return relative.parts[0] if len(relative.parts) > 1 else relative.stem


def imported(path: Path) -> set[str]:
    """The parts of quire that a file imports."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text())):
        modules: list[str] = []
        if isinstance(node, ast.Import):
            modules = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            names = [f"quire.{alias.name}" for alias in node.names]
            modules = names if node.module == "quire" else [node.module or ""]
        words = (module.split(".") for module in modules)
        found |= {rest[0] for top, *rest in words if top == "quire" and rest}
    return found - {part(path)}


def test_no_folder_is_imported_by_what_it_imports() -> None:
    graph: dict[str, set[str]] = {}
    for path in SOURCE.rglob("*.py"):
        graph.setdefault(part(path), set()).update(imported(path))
    # CycleError names the cycle.
    order = list(TopologicalSorter(graph).static_order())
    names = ("host", "source", "kernels", "boot")
    places = list(map(order.index, names))
    assert places == sorted(places)


def test_every_folder_imports_what_it_may() -> None:
    """The table of docs/dev/architecture.md has each folder, and what it may import."""
    rows = re.findall(r"^\| `(\w+)` \|.*\| ([^|]*) \|$", ARCHITECTURE.read_text(), re.M)
    may = {name: set(re.findall(r"`(\w+)`", cell)) for name, cell in rows}
    assert {path.parent.name for path in SOURCE.glob("*/__init__.py")} <= may.keys()

    def reaches(name: str) -> set[str]:
        return may[name].union(*map(reaches, may[name]))

    imports: dict[str, set[str]] = {}
    for path in SOURCE.rglob("*.py"):
        imports.setdefault(part(path), set()).update(imported(path))
    # Commands, and the files that start them, may import everything.
    for name in may.keys() - {"commands"}:
        assert imports[name] <= reaches(name), name
        assert may[name] <= imports[name], f"{name} does not import all of these"

# SPDX-License-Identifier: GPL-2.0
"""The options that a kernel tree's Kconfig files define."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from quire.host.errors import UserError

_DEFINED = re.compile(r"^\s*(?:menu)?config\s+([A-Z0-9_]+)\s*$", re.M)
_SOURCED = re.compile(r'^\s*o?source\s+"([^"]+)"', re.M)


def options(tree: Path, srcarch: str, roots: Sequence[str], followed: Sequence[str]) -> set[str]:
    """CONFIG_ names of all options in the files `roots` and in the files they source, directly or
    indirectly, if their path begins with one of `followed`. {srcarch} in both is the directory
    below arch/. UserError for a missing root.
    """
    prefixes = tuple(text.format(srcarch=srcarch) for text in followed)
    waiting = [text.format(srcarch=srcarch) for text in roots]
    for name in waiting:
        if not (tree / name).is_file():
            raise UserError(
                "the kernel tree lacks a Kconfig file", str(tree / name), "use a complete tree"
            )
    seen: set[str] = set()
    found: set[str] = set()
    while waiting:
        name = waiting.pop()
        if name in seen or not (tree / name).is_file():
            continue
        seen.add(name)
        text = (tree / name).read_text(errors="replace")
        found.update(f"CONFIG_{option}" for option in _DEFINED.findall(text))
        waiting += [path for path in _sourced(text, srcarch) if path.startswith(prefixes)]
    return found


def _sourced(text: str, srcarch: str) -> Iterator[str]:
    for path in _SOURCED.findall(text):
        yield path.replace("$(SRCARCH)", srcarch)

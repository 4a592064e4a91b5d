# SPDX-License-Identifier: GPL-2.0
"""Find the lines of C that a series adds or changes, each with the last patch that did."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from unidiff.patch import PatchedFile

from quire.host.errors import UserError
from quire.source.patch import Patch

# Each line of a file, and the name of the patch that added it; empty for the base's lines.
Origins = list[tuple[str, str]]
# A definition begins in the first column; its arguments may be on the next lines.
_DEFINED = re.compile(r"(?=[a-z])[^=;]*?\b(\w+)\(")


@dataclass(frozen=True, order=True)
class Added:
    """A line of the patched tree. `function`: the function that contains it, or empty."""

    file: str
    number: int
    text: str
    function: str
    patch: str


def lines(base: Path, tree: Path, patches: Sequence[Patch]) -> list[Added]:
    """Return all lines in order. UserError if the tree is not the base with these patches."""
    files: dict[str, Origins] = {}
    for patch in patches:
        for file in patch.parsed():
            if file.path.endswith((".c", ".h")):
                before = files.get(file.path) or [(text, "") for text in _text(base / file.path)]
                files[file.path] = _change(before, file, patch.name)
    added = []
    for name, origins in sorted(files.items()):
        if [text for text, _ in origins] != _text(tree / name):
            what = "the patched tree differs from the base with these patches"
            raise UserError(what, str(tree / name), "remove the tree; the next run recreates it")
        added += _added(name, origins)
    return added


def _text(path: Path) -> list[str]:
    return path.read_text().splitlines() if path.exists() else []


def _change(before: Origins, file: PatchedFile, patch: str) -> Origins:
    after: Origins = []
    at = 0
    for hunk in file:
        # A hunk without old lines names the preceding line.
        start = hunk.source_start - (1 if hunk.source_length else 0)
        after += before[at:start]
        at = start
        for line in hunk:
            if line.is_added:
                after.append((line.value.rstrip("\n"), patch))
            elif line.is_context:
                after.append(before[at])
            at += not line.is_added
    return after + before[at:]


def _added(file: str, origins: Origins) -> list[Added]:
    function, found = "", []
    for number, (text, patch) in enumerate(origins, 1):
        if defined := _DEFINED.match(text):
            function = defined[1]
        if patch:
            found.append(Added(file, number, text.strip(), function, patch))
        if text.startswith("}"):
            function = ""
    return found

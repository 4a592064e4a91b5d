# SPDX-License-Identifier: GPL-2.0
"""scripts/record-cases: which patch a seeded bug belongs to."""

from __future__ import annotations

import json
import runpy
import subprocess
from pathlib import Path

from conftest import ROOT

BASE = "".join(f"base line {n};\n" for n in range(1, 31))
PATCHED = BASE.replace("base line 20;", "patched line 20;")
SEEDED = """\
--- a/mm/file.c
+++ b/mm/file.c
@@ -2,3 +2,4 @@
 base line 2;
 base line 3;
+if (quire_bug("in-base")) return;
 base line 4;
@@ -19,3 +20,3 @@
 base line 19;
-patched line 20;
+patched line 20 && !mm_bug(folio, "in-patch");
 base line 21;
"""


def git(tree: Path, *words: str) -> None:
    identity = ("-c", "user.name=x", "-c", "user.email=x")
    subprocess.run(["git", "-C", str(tree), *identity, *words], check=True, capture_output=True)


def test_a_bug_belongs_to_the_patch_whose_line_it_changes(tmp_path: Path) -> None:
    main = runpy.run_path(str(ROOT / "scripts/record-cases"))["main"]
    main.__globals__.update(ROOT=tmp_path, FILE=tmp_path / "cases.json")
    for name, text in {
        "patches/linux-7.3.y/series": "# a comment\nmremap/0001-mm-file.patch\n",
        "lines/7.3/seeded/series": "file.patch\n",
        "lines/7.3/seeded/file.patch": SEEDED,
    }.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    tree = tmp_path / "tree"
    (tree / "mm").mkdir(parents=True)
    git(tree, "init", "-q")
    for text in (BASE, PATCHED):
        (tree / "mm/file.c").write_text(text)
        git(tree, "add", "-A")
        git(tree, "commit", "-qm", "x")
    main("7.3", str(tree))
    found = json.loads((tmp_path / "cases.json").read_text())
    assert found == {"7.3": {"in-base": [], "in-patch": ["mremap/mm-file"]}}
    assert (tree / "mm/file.c").read_text() == PATCHED

# SPDX-License-Identifier: GPL-2.0
"""Patches that come with a fragment of --config, on both sides."""

from __future__ import annotations

import json
from pathlib import Path

from conftest import Quire, line_patch, said
from known import ARM64


def images(quire: Quire, *words: str) -> dict[str, str]:
    """The kernels that `quire build` makes, by the label of the side."""
    lines = quire.passes("build", *words, "ARCH=arm64").stdout.splitlines()
    built = {label: Path(objdir) for _, label, objdir in map(str.split, lines)}
    return {label: (objdir / ARM64.image).read_text() for label, objdir in built.items()}


def test_a_fragment_brings_the_patches_of_its_name(quire: Quire, tree: Path) -> None:
    folder = quire.project / "lines/6.12/checked"
    folder.mkdir()
    (folder / "checked.patch").write_text(line_patch("mm: check", 15, "checked 15"))
    (folder / "series").write_text("checked.patch\n")
    fragment = quire.project / "configs/checked.config"
    fragment.write_text("CONFIG_FAKE=y\n")
    words = ("--source", str(tree))
    checked = images(quire, *words, "--config", str(fragment))
    assert set(checked) == {"stock", "patched"}
    for label, image in checked.items():
        assert "\nchecked 15\n" in image
        assert ("\nrun 8\n" in image) == (label == "patched")
    assert not [image for image in images(quire, *words).values() if "checked 15" in image]
    (folder / "checked.patch").write_text(line_patch("mm: check", 8, "checked 8"))
    said(quire("build", *words, "--config", str(fragment), "ARCH=arm64"), 2, "checked.patch")


def test_a_check_applies_them_to_the_base_and_behind_the_series(quire: Quire, tree: Path) -> None:
    found = {}
    for name, at in (("checked", 15), ("late", 8), ("seeded", 15)):
        folder = quire.project / "lines/6.12" / name
        folder.mkdir(exist_ok=True)
        (folder / "own.patch").write_text(line_patch("mm: check", at, f"checked {at}"))
        (folder / "series").write_text("own.patch\n")
    done = quire("check", "--quick", "--json", "--source", str(tree), "ARCH=arm64")
    for row in json.loads(done.stdout):
        if row["check"] in ("applies to the base", "applies to the series"):
            found[row["subject"], row["check"].rpartition(" ")[2]] = row["trouble"]
    fails = {key for key, trouble in found.items() if trouble}
    assert fails == {("late/series", "series")}
    assert "own.patch" in found["late/series", "series"]
    assert ("checked/series", "base") in found
    assert ("seeded/series", "series") in found
    assert ("seeded/series", "base") not in found

# SPDX-License-Identifier: GPL-2.0
"""A bundle: what to copy to a machine that has no checkout of ours, and how to use it."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from pathlib import Path

from quire.host import process
from quire.timing.program import NAME

README = """\
Quire: time on this machine, stock and patched

Boot the stock kernel, then as root:
    swapoff -a; modprobe zram
    ./{name}-ARCH --output=stock.json
Boot the patched kernel, the same with --output=patched.json. Where you have a checkout of Quire:
    quire compare stock.json patched.json

  ./{name}-ARCH --list             the rows
  ./{name}-ARCH 'mremap*'          some of them
  ./{name}-ARCH --cpu=3            on this CPU (default: the last that it may use)

It changes settings of the system (folio sizes, KSM, khugepaged) and puts them back at the end. It
refuses to run while there is swap, a zram0 or pages merged by KSM. Rows that need what this machine
or user lacks are skipped, and the output says why. The exit status is 1 if a row has failed, 2 for
wrong words or a machine that is in use.
"""


def write(directory: Path, programs: Mapping[str, Path]) -> list[Path]:
    """Copy the program of each architecture, and what to do with it. The written paths."""
    process.needs_results("the next commands depend on the programs")
    directory.mkdir(parents=True, exist_ok=True)
    written = []
    for arch, program in programs.items():
        place = directory / f"{NAME}-{arch}"
        shutil.copy2(program, place)
        place.chmod(0o755)
        written.append(place)
    readme = directory / "README"
    readme.write_text(README.format(name=NAME))
    return [*written, readme]

# SPDX-License-Identifier: GPL-2.0
"""The names of the guest's cases, from the preprocessed sources: no guest is built, none boots."""

import re
import subprocess
from functools import cache

from conftest import ROOT

_CASE = re.compile(
    r'\.suite = "(\w+)",\s*\.name = "(\w+)"(.*?)\}; static const struct ktap_case \*'
)
_SIZES = re.compile(r"\(const unsigned long\[\]\)\s*\{([^}]*)\}")


@cache
def cases() -> dict[str, list[str]]:
    """The full names of each case, suite.name: one, or one for each folio size. Without those that
    only the harness's own tests run."""
    guest = ROOT / "guest"
    words = [
        "gcc",
        "-E",
        "-P",
        "-D_GNU_SOURCE",
        f"-I{guest}",
        f"-I{guest}/include",
        f"-I{guest}/lib",
    ]
    found: dict[str, list[str]] = {}
    for source in sorted(guest.glob("tests/**/*.c")):
        text = subprocess.run(
            [*words, str(source)], check=True, capture_output=True, text=True
        ).stdout
        for suite, name, rest in _CASE.findall(text.replace("\n", " ")):
            sizes = _SIZES.search(rest)
            runs = [f"-{size.strip()}k" for size in sizes[1].split(",")] if sizes else [""]
            if ".hidden" not in rest:
                found[f"{suite}.{name}"] = [f"{suite}.{name}{run}" for run in runs]
    return found

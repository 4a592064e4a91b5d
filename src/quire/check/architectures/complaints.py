# SPDX-License-Identifier: GPL-2.0
"""Find the complaints of compilers, linkers and modpost in make's output."""

from __future__ import annotations

import re
from collections.abc import Collection

_COMPLAINT = re.compile(
    r"^.*(?:\b(?:warning|error): |\b(?:WARNING|ERROR): |undefined reference to ).*$", re.M
)
# The line or offset; patches change it.
_PLACE = re.compile(r":\d+(?::\d+)?:|\(\.[\w.]+\+0x[0-9a-f]+\)")


def find(log: str) -> list[str]:
    """Each complaint once, in order of appearance."""
    return list(dict.fromkeys(_COMPLAINT.findall(log)))


def new(complaints: Collection[str], known: Collection[str]) -> list[str]:
    """The complaints that are not among `known`, compared without line numbers or offsets."""
    old = {_PLACE.sub(":", line) for line in known}
    return [line for line in complaints if _PLACE.sub(":", line) not in old]

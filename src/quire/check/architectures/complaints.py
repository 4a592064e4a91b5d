# SPDX-License-Identifier: GPL-2.0
"""What compilers, linkers and modpost complain of in make's output."""

from __future__ import annotations

import re
from collections.abc import Collection

_COMPLAINT = re.compile(
    r"^.*(?:\b(?:warning|error): |\b(?:WARNING|ERROR): |undefined reference to ).*$", re.M
)
# Where exactly: patches move it.
_PLACE = re.compile(r":\d+(?::\d+)?:|\(\.[\w.]+\+0x[0-9a-f]+\)")


def find(log: str) -> list[str]:
    """Each complaint once, in order."""
    return list(dict.fromkeys(_COMPLAINT.findall(log)))


def new(complaints: Collection[str], known: Collection[str]) -> list[str]:
    """Those that are not among `known`, wherever in its file one stands."""
    old = {_PLACE.sub(":", line) for line in known}
    return [line for line in complaints if _PLACE.sub(":", line) not in old]

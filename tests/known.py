# SPDX-License-Identifier: GPL-2.0
"""The architectures by name, and TOML, for tests."""

import json

from quire.arch import KNOWN

ARM64, X86_64, I386 = KNOWN["arm64"], KNOWN["x86_64"], KNOWN["i386"]
RISCV64 = KNOWN["riscv64"]


def toml(table: str, **fields: object) -> str:
    """A [[table]] with these fields."""
    lines = [f"{key} = {json.dumps(value)}" for key, value in fields.items()]
    return "\n".join([f"[[{table}]]", *lines, ""])


def bug(name: str, *cases: str, **fields: object) -> str:
    """The entry of a seeded bug that arm64 shows."""
    words = {"about": f"{name}s", "architectures": ["arm64"], "cases": cases or ["a.b"]}
    return toml("bug", name=name, **{**words, **fields})

# SPDX-License-Identifier: GPL-2.0
"""The head of every JSON document that quire describes: its schema's name and version."""

from __future__ import annotations

from typing import Any

# By name, the version of docs/schema/NAME.json. A new key keeps the version; a key that changes
# its meaning or goes away makes a new one.
VERSIONS = {"test": 1, "bench": 1, "time": 1, "compare": 1}


def head(name: str) -> dict[str, Any]:
    """The first keys of a document of this name."""
    return {"schema": f"quire-{name}", "schema_version": VERSIONS[name]}

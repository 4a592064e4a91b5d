# SPDX-License-Identifier: GPL-2.0
"""The configuration of a package: Debian's own, the user's, or the lab's."""

from __future__ import annotations

from pathlib import Path

from quire.arch import Architecture
from quire.build import kernel
from quire.build.kernel import Request
from quire.check import debian_config
from quire.host import process
from quire.host.errors import UserError
from quire.session import Session
from quire.source.line import Line
from quire.source.tree import Tree

# In configs/: for every package, and on top of a distribution's configuration.
ALWAYS, DISTRIBUTION = "deb.config", "deb-distribution.config"


def request(
    session: Session, arch: Architecture, of: Tree, *, trimmed: bool, flavour: str = ""
) -> Request:
    """The kernel to package: the user's configuration (--config), the lab's, or else Debian's.

    `flavour` says which of Debian's, the default one without. UserError if a file is missing, or
    Debian does not offer the configuration.
    """
    line = session.line(of.base)
    always = session.project.configs / ALWAYS
    tools = kernel.toolchain(arch, session.cross_compile)
    if trimmed:
        files = (*session.fragments(arch, line), always)
        return Request(arch, of, files, tools, session.jobs)
    found = session.configs or (_debians(session, line, of, arch, flavour),)
    for path in found:
        if not path.is_file():
            raise UserError(f"configuration {path.name} is missing", str(path), "check --config")
    # Options for another compiler or architecture do not survive, and need not.
    files = (*found, session.project.configs / DISTRIBUTION, always)
    return Request(arch, of, files, tools, session.jobs, strict=False)


def _debians(session: Session, line: Line, of: Tree, arch: Architecture, flavour: str) -> Path:
    """Debian's configuration of the base's version as a file."""
    options = debian_config.of(session.cache, line, of.base, arch, flavour)
    name = f"debian-{of.base.key}-{flavour or arch.debian}.config"
    file = session.cache.root / "package" / name
    text = "".join(f"{option}={value}\n" for option, value in sorted(options.items()))
    process.do(file.parent.mkdir, parents=True, exist_ok=True)
    process.do(file.write_text, text)
    return file

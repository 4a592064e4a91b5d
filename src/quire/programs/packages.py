# SPDX-License-Identifier: GPL-2.0
"""Choose and download Debian packages for an image, with what they depend on."""

import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from urllib.parse import unquote

from quire.host import process
from quire.host.cache import Cache
from quire.host.errors import UserError
from quire.source import debian

SUITES = ("bookworm", "trixie")
# Every package that a Debian system must have; and what makes /bin a link, instead of usrmerge,
# which converts a running system.
ALWAYS = ("?essential", "usr-is-merged")
_UNKNOWN = re.compile(r"^E: (?:Unable to locate package|Package '?)\s*([^\s']+)", re.M)


def download(
    cache: Cache, suite: str, debian_arch: str, wanted: Sequence[str], into: Path
) -> dict[str, str]:
    """Download packages and their dependencies; return the versions by name.

    apt verifies them. UserError if there is no mirror, or if it lacks a package.
    """
    key = f"apt-rootfs-{suite}-{debian_arch}"
    with cache.lock("apt", key):
        root = cache.root / key
        suites = (suite, f"{suite}-updates", f"{suite}-security")
        apt = debian.isolated(root, suites, debian_arch)
        # An empty system: nothing is installed yet.
        (root / "status").write_text("")
        (into / "partial").mkdir(parents=True)
        own = ("-o", f"Dir::State::status={root}/status", "-o", f"Dir::Cache::archives={into}")
        apt = replace(apt, options=(*apt.options, *own))
        words = ("install", "--yes", "--no-install-recommends", "--download-only")
        finished = process.run(apt.command("apt-get", *words, *ALWAYS, *wanted))
    if finished.status:
        raise _trouble(finished.output, suite, debian_arch)
    (into / "partial").rmdir()
    (into / "lock").unlink(missing_ok=True)
    return versions(into)


def versions(directory: Path) -> dict[str, str]:
    """Read the versions of the packages in a directory from the names of their files."""
    names = (path.stem.split("_") for path in sorted(directory.glob("*.deb")))
    return {name: unquote(version) for name, version, _ in names}


def _trouble(output: str, suite: str, debian_arch: str) -> UserError:
    if unknown := sorted(set(_UNKNOWN.findall(output))):
        what = f"{suite} has no package {', '.join(unknown)} for {debian_arch}"
        return UserError(what, output.strip()[-500:], "check the name, or use another --suite")
    what = f"apt could not download the packages of {suite} for {debian_arch}"
    remedy = "check the network, and that apt's mirror has this suite and architecture"
    return UserError(what, output.strip()[-1000:], remedy)

# SPDX-License-Identifier: GPL-2.0
"""A base: a pristine kernel source, its version, its origin and its SHA-256."""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

from quire.host import process
from quire.host.cache import Cache, digest
from quire.host.errors import BuildFailed, UserError
from quire.source import debian, version
from quire.source.line import Debian, Line
from quire.source.version import Version

RECORD = "base.json"


@dataclass(frozen=True)
class Base:
    """`path` is our own copy of the tree, not the user's tree."""

    key: str
    version: Version
    # "Debian linux-source-6.12 6.12.117-1~deb12u1 (bookworm-security)" or a directory.
    origin: str
    # SHA-256 of the package, or over the names and contents of a directory's files. For a revision
    # of git: git:COMMIT.
    hash: str
    path: Path


def from_debian(cache: Cache, line: Line, wanted: str) -> Base:
    """Debian's source for "6.12" (the newest in the system's apt) or "6.12.94" (that version)."""
    cached = _cached(cache, wanted)
    if cached:
        return cached
    return from_offer(cache, find_offer(cache, line, wanted))


def find_offer(cache: Cache, line: Line, wanted: str) -> debian.Offer:
    """The offer for `wanted`; the system's apt comes first. UserError if no suite has it."""
    known_as = packages(line)
    if not shutil.which("apt-get"):
        raise UserError(
            "this host has no apt, so Debian's kernel source cannot be fetched",
            remedy="name your own kernel tree with --source DIR",
        )
    package = known_as.package
    known = debian.offers(package, debian.Apt())
    fitting = [offer for offer in known if _fits(offer, wanted)]
    if not fitting:
        known = debian.offers(package, debian.isolated(apt_state(cache, line), known_as.suites))
        fitting = [offer for offer in known if _fits(offer, wanted)]
    if not fitting:
        raise UserError(
            f"Debian offers no {package} that is {wanted}",
            "offered: " + (", ".join(offer.version for offer in known) or "nothing"),
            "choose one of these, or name your own kernel tree with --source DIR",
        )
    return fitting[0]


def packages(line: Line) -> Debian:
    """The Debian packages of a line. UserError if Debian does not package the line."""
    if not line.debian:
        raise UserError(
            f"the line {line.name} names no Debian package",
            str(line.folder),
            "name your own kernel tree with --source DIR, or --git DIR --a REVISION",
        )
    return line.debian


def apt_state(cache: Cache, line: Line, debian_arch: str = "") -> Path:
    """The directory of the apt state for the line's suites; with `debian_arch`, for that
    architecture's packages."""
    return cache.root / "-".join(filter(None, ("apt", line.name, debian_arch)))


def all_offers(cache: Cache, line: Line) -> list[debian.Offer]:
    """One offer per kernel version of `line` in all Debian suites, oldest first."""
    by_kernel: dict[str, debian.Offer] = {}
    known_as = packages(line)
    apt = debian.isolated(apt_state(cache, line), known_as.suites)
    for offer in debian.offers(known_as.package, apt):
        by_kernel.setdefault(offer.kernel, offer)
    return sorted(by_kernel.values(), key=lambda offer: version.parse(offer.kernel))


# What --dry-run says where the base would be made.
LATER = "the next commands depend on the base"


def from_offer(cache: Cache, offer: debian.Offer) -> Base:
    """Download, verify and unpack one version of the Debian package."""
    origin = f"Debian {offer.package} {offer.version}"
    line = offer.package.removeprefix("linux-source-")

    def build(directory: Path) -> None:
        package, sha = debian.fetch(offer, directory)
        debian.unpack(package, line, directory / "linux")
        process.needs_results(LATER)
        package.unlink()
        record(directory, origin, f"sha256:{sha}")

    return load(cache.make("base", safe(offer.version), build))


def from_directory(cache: Cache, source: Path) -> Base:
    """A copy of the user's own tree; UserError if it is not a kernel tree.

    A base in the build directory is taken as it is.
    """
    source = source.resolve()
    if source.parent.parent == cache.root / "base":
        return load(source.parent)
    version.of_tree(source)
    listing = [(name, *_stat(source / name)) for name in _files(source)]
    origin = f"directory {source}{_state(source)}"
    key = f"{version.of_tree(source)}-dir-{digest(str(source), listing)}"

    def build(directory: Path) -> None:
        names = "".join(f"{row[0]}\0" for row in listing)
        process.do((directory / "names").write_text, names)
        process.do((directory / "linux").mkdir)
        script = 'tar -C "$1" --format=posix --null -T "$2" -c | tar -x --no-same-owner -C "$3"'
        arguments = [str(source), str(directory / "names"), str(directory / "linux")]
        finished = process.run(
            process.Command(["bash", "-o", "pipefail", "-c", script, "copy", *arguments])
        )
        if finished.status:
            raise BuildFailed(
                f"{source} could not be copied",
                finished.output.strip()[-1000:],
                "free some space (a tree needs 1.5 GB), or name another build directory with O=DIR",
            )
        process.needs_results(LATER)
        (directory / "names").unlink()
        contents = digest_files(directory / "linux", [row[0] for row in listing])
        record(directory, origin, f"sha256:{contents}")

    return load(cache.make("base", key, build))


def digest_files(tree: Path, names: list[str]) -> str:
    """SHA-256 over the sorted `names` and their contents; for a link, its target."""
    total = hashlib.sha256()
    for name in sorted(names):
        path = tree / name
        data = str(path.readlink()).encode() if path.is_symlink() else path.read_bytes()
        total.update(f"{name}\0{len(data)}\0".encode())
        total.update(data)
    return total.hexdigest()


def _files(source: Path) -> list[str]:
    """The source files: those that git tracks, or all except in-tree build output."""
    if (source / ".git").exists():
        # Include uncommitted changes and new files that are not ignored.
        words = ("ls-files", "-z", "--cached", "--others", "--exclude-standard")
        finished = process.query("git", *words, cwd=source)
        if not finished.status:
            names = finished.output.split("\0")
            return sorted({name for name in names if name and _is_file(source / name)})
    if (source / ".config").exists() or (source / "include/config").exists():
        raise UserError(
            f"{source} contains build output, which cannot be separated from its sources",
            remedy=f"make -C {source} mrproper   (or name a git work tree)",
        )
    return sorted(_walk(source))


def _walk(source: Path) -> Iterator[str]:
    for directory, subdirectories, files in os.walk(source):
        here = Path(directory)
        # O= directories may be inside the sources and contain a generated Makefile.
        subdirectories[:] = [d for d in subdirectories if not _is_build(here / d)]
        for name in files:
            yield str((here / name).relative_to(source))
        for name in subdirectories:
            if (here / name).is_symlink():
                yield str((here / name).relative_to(source))


def _is_file(path: Path) -> bool:
    return path.is_symlink() or path.is_file()


def _state(source: Path) -> str:
    """For a git work tree: its commit, and the number of changed files."""
    if not (source / ".git").exists():
        return ""
    described = process.query("git", "describe", "--always", "--tags", cwd=source)
    if described.status:
        return ""
    changes = process.query("git", "status", "--porcelain", cwd=source).output.splitlines()
    count = f", {len(changes)} uncommitted files" if changes else ""
    return f" ({described.output.strip()}{count})"


def _is_build(directory: Path) -> bool:
    return directory.name == ".git" or (directory / "include/config/auto.conf").exists()


def _stat(path: Path) -> tuple[int, int]:
    found = path.lstat()
    return found.st_size, found.st_mtime_ns


def _cached(cache: Cache, wanted: str) -> Base | None:
    """The newest cached Debian base for `wanted`, so that a cached run needs no apt."""
    bases = [load(record.parent) for record in (cache.root / "base").glob(f"[!.]*/{RECORD}")]
    fitting = [
        base
        for base in bases
        if base.origin.startswith("Debian") and wanted in (base.version.line, str(base.version))
    ]
    return max(fitting, key=lambda base: base.version, default=None)


def _fits(offer: debian.Offer, wanted: str) -> bool:
    return wanted in (_line(wanted), offer.kernel, offer.version) and offer.kernel.startswith(
        _line(wanted) + "."
    )


def _line(wanted: str) -> str:
    return version.parse(wanted.partition("-")[0]).line


def safe(text: str) -> str:
    """`text` as a directory name that is safe for kbuild."""
    # make and kbuild's shell scripts fail on some characters in paths.
    return re.sub(r"[^A-Za-z0-9.+]+", "-", text)


def record(directory: Path, origin: str, hashed: str) -> None:
    """Write the record of a base's directory; UserError if it is not a kernel tree."""
    found = {"version": str(version.of_tree(directory / "linux")), "origin": origin, "hash": hashed}
    (directory / RECORD).write_text(json.dumps(found, indent=1) + "\n")


def load(directory: Path, origin: str = "") -> Base:
    """The base in a directory of the cache; `origin` overrides the recorded one."""
    found = json.loads((directory / RECORD).read_text())
    return Base(
        directory.name,
        version.parse(found["version"]),
        origin or found["origin"],
        # Directories written by an older quire.
        found.get("hash") or f"sha256:{found['sha256']}",
        directory / "linux",
    )


def as_json(base: Base) -> dict[str, str]:
    """The part of a result that describes its base."""
    return {key: str(value) for key, value in asdict(base).items() if key in _PUBLIC} | {
        "version": str(base.version)
    }


_PUBLIC = ("version", "origin", "hash")

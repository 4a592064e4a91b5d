# SPDX-License-Identifier: GPL-2.0
"""Provide a base: a pristine kernel source, its version, its origin and its SHA-256."""

import contextlib
import hashlib
import json
import os
import re
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from quire.host import process
from quire.host.cache import FREE_SPACE, Cache, digest
from quire.host.errors import UserError
from quire.source import debian, version
from quire.source.line import Debian, Line
from quire.source.version import Version

RECORD = "base.json"


@dataclass(frozen=True)
class Base:
    """A base; `path` is our own copy, not the user's tree."""

    key: str
    version: Version
    # "Debian linux-source-6.12 6.12.117-1~deb12u1 (bookworm-security)" or a directory.
    origin: str
    # SHA-256 of the package, or over the names and contents of a directory's files. For a revision
    # of git: git:COMMIT.
    hash: str
    path: Path


def from_debian(cache: Cache, line: Line, wanted: str) -> Base:
    """Fetch Debian's source for "6.12" (the newest in the system's apt) or "6.12.94" (exactly)."""
    if found := _cached(cache, wanted):
        return found
    with apt_state(cache, line) as state:
        # Another process may have fetched it during the wait for the lock.
        return _cached(cache, wanted) or from_offer(cache, _find_offer(line, wanted, state))


def _find_offer(line: Line, wanted: str, state: Path) -> debian.Offer:
    """The offer for `wanted`; the system's apt comes first, then an isolated one in `state`.
    UserError if no suite has it."""
    source = packages(line)
    if not shutil.which("apt-get"):
        what = "this host has no apt, so Debian's kernel source cannot be fetched"
        raise UserError(what, remedy="name your own kernel tree with --source DIR")
    known = debian.offers(source.package, debian.Apt())
    if not any(_fits(offer, wanted) for offer in known):
        isolated = debian.isolated(state, source.suites)
        known = debian.offers(source.package, isolated)
    for offer in known:
        if _fits(offer, wanted):
            return offer
    raise UserError(
        f"Debian offers no {source.package} {wanted}",
        "offered: " + (", ".join(offer.version for offer in known) or "nothing"),
        "choose one of these, or name your own kernel tree with --source DIR",
    )


def packages(line: Line) -> Debian:
    """Return the Debian packages of a line. UserError if Debian does not package the line."""
    if not line.debian:
        remedy = "name your own kernel tree with --source DIR, or --git DIR --a REVISION"
        raise UserError(f"line {line.name} has no Debian package", str(line.folder), remedy)
    return line.debian


@contextlib.contextmanager
def apt_state(cache: Cache, line: Line, debian_arch: str = "") -> Iterator[Path]:
    """Lock and return the apt state directory for the line's suites, optionally for another
    architecture's packages. apt fails if another apt uses the state, hence the lock."""
    name = "-".join(filter(None, ("apt", line.name, debian_arch)))
    with cache.lock("apt", name):
        yield cache.root / name


def all_offers(cache: Cache, line: Line) -> list[debian.Offer]:
    """List one offer per kernel version of `line` in all Debian suites, oldest first."""
    source = packages(line)
    with apt_state(cache, line) as state:
        newest_first = debian.offers(source.package, debian.isolated(state, source.suites))
    by_kernel = {offer.kernel: offer for offer in reversed(newest_first)}
    return sorted(by_kernel.values(), key=lambda offer: version.parse(offer.kernel))


def from_offer(cache: Cache, offer: debian.Offer) -> Base:
    """Download, verify and unpack one version of the Debian package."""
    origin = f"Debian {offer.package} {offer.version}"
    line = offer.package.removeprefix("linux-source-")

    def build(directory: Path) -> None:
        package, sha = debian.fetch(offer, directory)
        debian.unpack(package, line, directory / "linux")
        package.unlink()
        record(directory, origin, f"sha256:{sha}")

    return load(cache.make("base", safe(offer.version), build))


def from_directory(cache: Cache, source: Path) -> Base:
    """Copy the user's own tree; UserError if it is not a kernel tree.

    A base in the build directory is used directly.
    """
    source = source.resolve()
    if source.parent.parent == cache.root / "base":
        return load(source.parent)
    version.of_tree(source)
    names = _files(source)
    stats = [(source / name).lstat() for name in names]
    listing = [(n, s.st_size, s.st_mtime_ns) for n, s in zip(names, stats, strict=True)]
    origin = f"directory {source}{_state(source)}"
    key = f"{version.of_tree(source)}-dir-{digest(str(source), listing)}"

    def build(directory: Path) -> None:
        (directory / "names").write_text("\0".join(names))
        (directory / "linux").mkdir()
        script = 'tar -C "$1" --format=posix --null -T "$2" -c | tar -x --no-same-owner -C "$3"'
        copying = process.pipeline(script, source, directory / "names", directory / "linux")
        process.check(copying, f"{source} could not be copied", FREE_SPACE)
        (directory / "names").unlink()
        contents = digest_files(directory / "linux", names)
        record(directory, origin, f"sha256:{contents}")

    return load(cache.make("base", key, build))


def commit(repository: Path, revision: str) -> str:
    """Return the commit of `revision`. UserError if it or the repository does not exist."""
    if not repository.is_dir() or _git(repository, "rev-parse", "--git-dir").status:
        remedy = "name a clone of Linux with --git DIR"
        raise UserError(f"{repository} is not a git repository", remedy=remedy)
    found = _git(repository, "rev-parse", "--verify", "--quiet", f"{revision}^{{commit}}")
    if found.status:
        near = _git(repository, "for-each-ref", "--format=%(refname:short)", f"**/*{revision}*")
        names = ", ".join(near.output.split()[:8])
        what, similar = f"no revision {revision!r} in {repository}", f"similar refs: {names}"
        remedy = "name a branch, a tag or a commit of that repository"
        raise UserError(what, similar if names else "", remedy)
    return found.output.strip()


def from_git(cache: Cache, repository: Path, revision: str) -> Base:
    """Export a revision's sources; the repository is only read. UserError if either does not exist,
    or if it is not a kernel tree."""
    repository = repository.resolve()
    found = commit(repository, revision)

    def build(directory: Path) -> None:
        tree = directory / "linux"
        tree.mkdir()
        script = 'git -C "$1" archive --format=tar "$2" | tar -x --no-same-owner -C "$3"'
        command = process.pipeline(script, repository, found, tree)
        process.check(command, f"cannot export {revision} of {repository}", FREE_SPACE)
        record(directory, f"git {repository} {revision}", f"git:{found}")

    directory = cache.make("base", f"git-{found[:16]}", build)
    return load(directory, f"git {repository} {revision}")


def _git(repository: Path, *words: str) -> process.Finished:
    return process.query("git", "-C", str(repository), *words)


def digest_files(tree: Path, names: list[str]) -> str:
    """Hash the sorted `names` and their contents with SHA-256; for a link, its target."""
    total = hashlib.sha256()
    for name in sorted(names):
        path = tree / name
        data = str(path.readlink()).encode() if path.is_symlink() else path.read_bytes()
        total.update(f"{name}\0{len(data)}\0".encode())
        total.update(data)
    return total.hexdigest()


def _files(source: Path) -> list[str]:
    """The source files: those in git, or all except in-tree build output."""
    if (source / ".git").exists():
        # Include uncommitted changes and new files that are not ignored.
        words = ("ls-files", "-z", "--cached", "--others", "--exclude-standard")
        finished = process.query("git", *words, cwd=source)
        if not finished.status:
            names = finished.output.split("\0")
            paths = {name: source / name for name in names if name}
            return sorted(n for n, path in paths.items() if path.is_symlink() or path.is_file())
    if (source / ".config").exists() or (source / "include/config").exists():
        what = f"{source} contains build output, which cannot be separated from its sources"
        raise UserError(what, remedy=f"make -C {source} mrproper   (or name a git work tree)")
    return sorted(_walk(source))


def _walk(source: Path) -> Iterator[str]:
    for directory, subdirectories, files in os.walk(source):
        here = Path(directory)
        # O= directories may be inside the sources and contain a generated Makefile.
        subdirectories[:] = [
            name
            for name in subdirectories
            if name != ".git" and not (here / name / "include/config/auto.conf").exists()
        ]
        links = [name for name in subdirectories if (here / name).is_symlink()]
        yield from (str((here / name).relative_to(source)) for name in (*files, *links))


def _state(source: Path) -> str:
    """For a git work tree: its commit, and the number of changed files."""
    described = _git(source, "describe", "--always", "--tags")
    if described.status or not (source / ".git").exists():
        return ""
    changes = _git(source, "status", "--porcelain").output.splitlines()
    count = f", {len(changes)} uncommitted files" if changes else ""
    return f" ({described.output.strip()}{count})"


def cached(cache: Cache) -> list[Base]:
    """List the cached Debian bases."""
    bases = [load(record.parent) for record in (cache.root / "base").glob(f"[!.]*/{RECORD}")]
    return [base for base in bases if base.origin.startswith("Debian")]


def _cached(cache: Cache, wanted: str) -> Base | None:
    """The newest cached Debian base for `wanted`; cached runs need no apt."""
    fitting = [base for base in cached(cache) if wanted in (base.version.line, str(base.version))]
    return max(fitting, key=lambda base: base.version, default=None)


def _fits(offer: debian.Offer, wanted: str) -> bool:
    line = version.parse(wanted.partition("-")[0]).line
    named = wanted in (line, offer.kernel, offer.version)
    return named and offer.kernel.startswith(f"{line}.")


def safe(text: str) -> str:
    """`text` as a directory name that is safe for kbuild."""
    # make and kbuild's shell scripts fail on some characters in paths.
    return re.sub(r"[^A-Za-z0-9.+]+", "-", text)


def record(directory: Path, origin: str, hashed: str) -> None:
    """Write the record of a base's directory; UserError if it is not a kernel tree."""
    base = Base("", version.of_tree(directory / "linux"), origin, hashed, directory)
    (directory / RECORD).write_text(json.dumps(as_json(base), indent=1) + "\n")


def load(directory: Path, origin: str = "") -> Base:
    """Return the base in a directory of the cache; `origin` overrides the recorded one."""
    written = json.loads((directory / RECORD).read_text())
    number, hashed = version.parse(written["version"]), written["hash"]
    return Base(directory.name, number, origin or written["origin"], hashed, directory / "linux")


def as_json(base: Base) -> dict[str, str]:
    """Return the part of a result that describes its base."""
    return {"version": str(base.version), "origin": base.origin, "hash": base.hash}

# SPDX-License-Identifier: GPL-2.0
"""Debian's kernel packages through apt, which verifies them against its signed index.

The system's own apt sources come first. For another suite of the same mirror, quire uses its own
apt state directory, with the configured mirror and Debian's keyring. The system's settings do not
change, and root is not needed.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from quire.host import process
from quire.host.cache import sha256
from quire.host.errors import BuildFailed, UserError

# Releases whose mirror, if apt has one, provides the suites of every line.
RELEASES = ("bookworm", "trixie", "forky", "duke", "sid", "stable", "testing", "unstable")
KEYRINGS = ("debian-archive-keyring.gpg", "debian-archive-keyring.pgp")


@dataclass(frozen=True)
class Apt:
    """An apt configuration: the system's, or an isolated one."""

    options: tuple[str, ...] = ()

    def command(self, program: str, *args: str, cwd: Path | None = None) -> process.Command:
        """The apt-get or apt-cache command with these options."""
        options = list(self.options)
        if os.geteuid() == 0:
            # As root, apt would download as a user without write access to the directory.
            options += ["-o", "APT::Sandbox::User=root"]
        return process.Command([program, "-q", *options, *args], cwd=cwd)


@dataclass(frozen=True)
class Offer:
    """One version of the package that this apt configuration can fetch."""

    package: str
    version: str
    suite: str
    apt: Apt

    @property
    def kernel(self) -> str:
        """The kernel version: 6.12.117 of 6.12.117-1~deb12u1."""
        return self.version.partition("-")[0]


def for_architecture(debian_arch: str) -> Apt:
    """The system's apt, for the packages of that architecture, as far as apt has an index."""
    # Leave the system's caches alone: with an empty name, apt keeps its cache in memory.
    caches = ("-o", "Dir::Cache::pkgcache=", "-o", "Dir::Cache::srcpkgcache=")
    return Apt((*_architecture_options(debian_arch), *caches))


def offers(package: str, apt: Apt) -> list[Offer]:
    """All versions of `package` that `apt` knows, newest first."""
    finished = process.query(*apt.command("apt-cache", "madison", package).argv)
    found = []
    for row in finished.output.splitlines():
        parts = [part.strip() for part in row.split("|")]
        if len(parts) == 3 and parts[0] == package and parts[2].endswith("Packages"):
            words = parts[2].split()
            suite = words[1].partition("/")[0] if len(words) > 1 else ""
            found.append(Offer(package, parts[1], suite, apt))
    return found


def isolated(root: Path, suites: Sequence[str], debian_arch: str = "") -> Apt:
    """Our own apt configuration below `root` for these suites, with a new index; for another
    architecture's packages if one is named."""
    main, security = _mirror()
    keyring = _keyring()
    for name in ("lists/partial", "cache/archives/partial"):
        (root / name).mkdir(parents=True, exist_ok=True)
    apt = Apt(_isolated_options(root) + _architecture_options(debian_arch))
    uris = {suite: security if suite.endswith("-security") else main for suite in suites}
    finished = _update(apt, root, keyring, uris)
    missing = re.findall(r"The repository '\S+ (\S+) Release' does not have", finished.output)
    if finished.status and missing:
        # A mirror may lack some suites; use those it has.
        present = {suite: uri for suite, uri in uris.items() if suite not in missing}
        finished = _update(apt, root, keyring, present)
    if finished.status:
        raise UserError(
            "apt could not read the index of Debian's suites",
            finished.output.strip()[-1000:],
            "check the network, or name your own kernel tree with --source DIR",
        )
    return apt


def _update(apt: Apt, root: Path, keyring: Path, uris: Mapping[str, str]) -> process.Finished:
    lines = [f"deb [signed-by={keyring}] {uri} {suite} main" for suite, uri in uris.items() if uri]
    (root / "sources.list").write_text("\n".join(lines) + "\n")
    return process.run(apt.command("apt-get", "update"))


def _isolated_options(root: Path) -> tuple[str, ...]:
    settings = {
        "Dir::Etc::sourcelist": str(root / "sources.list"),
        "Dir::Etc::sourceparts": os.devnull,
        "Dir::State::lists": str(root / "lists"),
        "Dir::Cache": str(root / "cache"),
        "Acquire::Languages": "none",
        "Acquire::IndexTargets::deb::DEP-11::DefaultEnabled": "false",
    }
    return tuple(word for key, value in settings.items() for word in ("-o", f"{key}={value}"))


def _architecture_options(debian_arch: str) -> tuple[str, ...]:
    if not debian_arch:
        return ()
    return ("-o", f"APT::Architecture={debian_arch}", "-o", f"APT::Architectures={debian_arch}")


def fetch(offer: Offer, directory: Path) -> tuple[Path, str]:
    """Download the package into `directory`; return the file and its SHA-256.

    apt checks the download against its signed index. The SHA-256 is computed from the file and
    compared with the index, so that the recorded value is the verified one.
    """
    wanted = _index_sha256(offer)
    command = offer.apt.command(
        "apt-get", "download", f"{offer.package}={offer.version}", cwd=directory
    )
    finished = process.run(command)
    planned = directory / f"{offer.package}_{offer.version}_all.deb"
    return process.value(
        (planned, ""), lambda: _verified(offer, directory, wanted, command, finished)
    )


def _verified(
    offer: Offer, directory: Path, wanted: str, command: process.Command, finished: process.Finished
) -> tuple[Path, str]:
    files = list(directory.glob(f"{offer.package}_*.deb"))
    if finished.status or len(files) != 1:
        raise UserError(
            f"apt could not download {offer.package} {offer.version}",
            f"{command.text()}\n{finished.output.strip()[-1000:]}",
            "check the network (apt-get update), or name your own kernel tree with --source DIR",
        )
    found = sha256(files[0])
    if found != wanted:
        raise UserError(
            f"{files[0].name} does not match Debian's signed index",
            f"SHA-256 of the file  {found}\nSHA-256 of the index {wanted}",
            "run apt-get update and try again; if it persists, do not trust the mirror",
        )
    return files[0], found


def unpack(package: Path, line: str, destination: Path, only: Sequence[str] = ()) -> None:
    """Unpack the source tarball of the package into `destination`; with `only`, just those of the
    files that it contains. BuildFailed on an error."""
    script = (
        'dpkg-deb --fsys-tarfile "$1" | tar -xO "./usr/src/linux-source-$2.tar.xz"'
        ' | xz -dc -T0 | tar -x --no-same-owner --strip-components=1 -C "$3" "${@:4}"'
    )
    process.do(destination.mkdir, parents=True, exist_ok=True)
    argv = ["bash", "-o", "pipefail", "-c", script, "unpack", str(package), line]
    argv += [str(destination), *(f"linux-source-{line}/{name}" for name in only)]
    finished = process.run(process.Command(argv))
    # A file that this version lacks is not an error: a patch may create it.
    absent = only and "Not found in archive" in finished.output
    if finished.status and not absent:
        raise BuildFailed(
            f"{package.name} could not be unpacked",
            finished.output.strip()[-1000:],
            "free some space (a tree needs 1.5 GB), or name another build directory with O=DIR",
        )


def members(package: Path) -> list[str]:
    """The names of the files in the package, without a leading "./". BuildFailed if unreadable."""
    text = _piped(package, "tar -t", trouble=f"{package.name} cannot be read")
    return [name.removeprefix("./") for name in text.splitlines()]


def member(package: Path, name: str) -> str:
    """The text of one .xz file in the package. BuildFailed if it is missing."""
    trouble = f"{package.name} has no readable {name}"
    return _piped(package, 'tar -xO "./$2" | xz -dc', name, trouble=trouble)


def _piped(package: Path, into: str, *words: str, trouble: str) -> str:
    """The output of the shell commands `into`, fed with the package's files; $2 … are `words`."""
    script = f'dpkg-deb --fsys-tarfile "$1" | {into}'
    command = ("bash", "-o", "pipefail", "-c", script, "member", str(package), *words)
    finished = process.query(*command)
    if finished.status:
        output = finished.output.strip()[-1000:]
        raise BuildFailed(trouble, output, "list its contents: dpkg-deb -c")
    return finished.output


def _index_sha256(offer: Offer) -> str:
    show = offer.apt.command("apt-cache", "show", f"{offer.package}={offer.version}")
    finished = process.query(*show.argv)
    found = re.search(r"^SHA256: ([0-9a-f]{64})$", finished.output, re.M)
    if not found:
        raise UserError(
            f"apt's index has no SHA-256 for {offer.package} {offer.version}",
            remedy="run apt-get update, or name your own kernel tree with --source DIR",
        )
    return found[1]


def _mirror() -> tuple[str, str]:
    """The configured mirrors of Debian's main and security archives (security: "" if none)."""
    form = "$(REPO_URI) $(RELEASE) $(COMPONENT)"
    finished = process.query("apt-get", "indextargets", "--format", form, "Created-By: Packages")
    rows = [row.split() for row in finished.output.splitlines()]
    found = {row[1]: row[0] for row in rows if len(row) == 3 and row[2] == "main"}
    main = _first(uri for suite, uri in found.items() if suite in RELEASES)
    security = _first(uri for suite, uri in found.items() if suite.endswith("-security"))
    if not main:
        raise UserError(
            "apt has no Debian mirror configured, so no base can be fetched",
            remedy="name your own kernel tree with --source DIR",
        )
    return main, security


def _keyring() -> Path:
    for name in KEYRINGS:
        path = Path("/usr/share/keyrings") / name
        if path.is_file():
            return path
    raise UserError(
        "Debian's archive keyring is not installed", remedy="apt-get install debian-archive-keyring"
    )


def _first(values: Iterable[str]) -> str:
    return next(iter(values), "")

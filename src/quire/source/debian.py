# SPDX-License-Identifier: GPL-2.0
"""Get Debian's kernel packages through apt, which verifies them against its signed index.

The system's own apt sources come first. For another suite of the same mirror, quire uses its own
apt state directory, with the configured mirror and Debian's keyring. The system's settings do not
change, and root is not needed.
"""

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from quire.host import process
from quire.host.cache import FREE_SPACE, sha256
from quire.host.errors import BuildFailed, UserError

# Releases whose configured mirror, if any, provides the suites of every line.
RELEASES = ("bookworm", "trixie", "forky", "duke", "sid", "stable", "testing", "unstable")
KEYRING_FOLDER = Path("/usr/share/keyrings")
KEYRINGS = ("debian-archive-keyring.gpg", "debian-archive-keyring.pgp")


@dataclass(frozen=True)
class Apt:
    """An apt configuration: the system's, or an isolated one."""

    options: tuple[str, ...] = ()

    def command(self, program: str, *args: str, cwd: Path | None = None) -> process.Command:
        """Return the apt-get or apt-cache command with these options."""
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
        """The kernel version, such as 6.12.117 of 6.12.117-1~deb12u1."""
        return self.version.partition("-")[0]


def for_architecture(debian_arch: str) -> Apt:
    """Use the system's apt for that architecture's packages, if apt has an index."""
    # Leave the system's caches alone: with an empty name, apt keeps its cache in memory.
    caches = {"Dir::Cache::pkgcache": "", "Dir::Cache::srcpkgcache": ""}
    return Apt(_options({**_foreign(debian_arch), **caches}))


def offers(package: str, apt: Apt) -> list[Offer]:
    """List all versions of `package` that `apt` knows, newest first."""
    known = process.query(*apt.command("apt-cache", "madison", package).argv).output
    # linux-source-6.12 | 6.12.117-1 | http://deb.debian.org/debian trixie/main amd64 Packages
    row = rf"^\s*{re.escape(package)} \| +(\S+) \| \S+ ([^/\s]+)\S* .*Packages$"
    return [Offer(package, number, suite, apt) for number, suite in re.findall(row, known, re.M)]


def isolated(root: Path, suites: Sequence[str], debian_arch: str = "") -> Apt:
    """Create an apt configuration below `root` for these suites, with a new index, optionally for
    another architecture's packages."""
    main, security = _mirror()
    keyrings = [path for name in KEYRINGS if (path := KEYRING_FOLDER / name).is_file()]
    if not keyrings:
        remedy = "apt-get install debian-archive-keyring"
        raise UserError("Debian's archive keyring is not installed", remedy=remedy)
    for name in ("lists/partial", "cache/archives/partial"):
        (root / name).mkdir(parents=True, exist_ok=True)
    settings = {
        "Dir::Etc::sourcelist": str(root / "sources.list"),
        "Dir::Etc::sourceparts": os.devnull,
        "Dir::State::lists": str(root / "lists"),
        "Dir::Cache": str(root / "cache"),
        "Acquire::Languages": "none",
        "Acquire::IndexTargets::deb::DEP-11::DefaultEnabled": "false",
    }
    apt = Apt(_options({**settings, **_foreign(debian_arch)}))
    uris = {suite: security if suite.endswith("-security") else main for suite in suites}
    finished = _update(apt, root, keyrings[0], uris)
    missing = re.findall(r"The repository '\S+ (\S+) Release' does not have", finished.output)
    if finished.status and missing:
        # A mirror may lack some suites; use those it has.
        present = {suite: uri for suite, uri in uris.items() if suite not in missing}
        finished = _update(apt, root, keyrings[0], present)
    if finished.status:
        what = "apt could not read the index of Debian's suites"
        remedy = "check the network; for a base, --source DIR names your own kernel tree"
        raise UserError(what, finished.output.strip()[-1000:], remedy)
    return apt


def _update(apt: Apt, root: Path, keyring: Path, uris: Mapping[str, str]) -> process.Finished:
    lines = [f"deb [signed-by={keyring}] {uri} {suite} main" for suite, uri in uris.items() if uri]
    (root / "sources.list").write_text("\n".join(lines) + "\n")
    return process.run(apt.command("apt-get", "update"))


def _foreign(debian_arch: str) -> dict[str, str]:
    keys = ("APT::Architecture", "APT::Architectures") if debian_arch else ()
    return dict.fromkeys(keys, debian_arch)


def _options(settings: Mapping[str, str]) -> tuple[str, ...]:
    return tuple(word for key, value in settings.items() for word in ("-o", f"{key}={value}"))


def fetch(offer: Offer, directory: Path) -> tuple[Path, str]:
    """Download the package into `directory`; return the file and its SHA-256.

    apt checks the download against its signed index. The SHA-256 is computed from the file and
    compared with the index, so that the recorded value is the verified one.
    """
    wanted = _index_sha256(offer)
    words = ("apt-get", "download", f"{offer.package}={offer.version}")
    what = f"apt could not download {offer.package} {offer.version}"
    remedy = "check the network (apt-get update), or name your own kernel tree with --source DIR"
    process.check(offer.apt.command(*words, cwd=directory), what, remedy, UserError)
    files = list(directory.glob(f"{offer.package}_*.deb"))
    if len(files) != 1:
        raise UserError(what, f"{len(files)} packages in {directory}", remedy)
    actual = sha256(files[0])
    if actual != wanted:
        what = f"{files[0].name} does not match Debian's signed index"
        where = f"SHA-256 of the file  {actual}\nSHA-256 of the index {wanted}"
        remedy = "run apt-get update and try again; if it persists, do not trust the mirror"
        raise UserError(what, where, remedy)
    return files[0], actual


def unpack(package: Path, line: str, destination: Path, only: Sequence[str] = ()) -> None:
    """Unpack the package's source tarball into `destination`; with `only`, just these files, where
    they exist. BuildFailed on an error."""
    script = (
        'dpkg-deb --fsys-tarfile "$1" | tar -xO "./usr/src/linux-source-$2.tar.xz"'
        ' | xz -dc -T0 | tar -x --no-same-owner --strip-components=1 -C "$3" "${@:4}"'
    )
    destination.mkdir(parents=True, exist_ok=True)
    names = [f"linux-source-{line}/{name}" for name in only]
    finished = process.run(process.pipeline(script, package, line, destination, *names))
    # A file that this version lacks is not an error: a patch may create it.
    absent = only and "Not found in archive" in finished.output
    if finished.status and not absent:
        output = finished.output.strip()[-1000:]
        raise BuildFailed(f"{package.name} could not be unpacked", output, FREE_SPACE)


def members(package: Path) -> list[str]:
    """List the package's files, without a leading "./". BuildFailed if unreadable."""
    text = _piped("tar -t", package, trouble=f"{package.name} cannot be read")
    return [name.removeprefix("./") for name in text.splitlines()]


def member(package: Path, name: str) -> str:
    """Return the text of one .xz file in the package. BuildFailed if it is missing."""
    trouble = f"{package.name} has no readable {name}"
    return _piped('tar -xO "./$2" | xz -dc', package, name, trouble=trouble)


def _piped(into: str, *words: object, trouble: str) -> str:
    """The output of shell commands that read the files of the package $1."""
    reading = process.pipeline(f'dpkg-deb --fsys-tarfile "$1" | {into}', *words)
    finished = process.query(*reading.argv)
    if finished.status:
        output = finished.output.strip()[-1000:]
        raise BuildFailed(trouble, output, "list its contents: dpkg-deb -c")
    return finished.output


def _index_sha256(offer: Offer) -> str:
    show = offer.apt.command("apt-cache", "show", f"{offer.package}={offer.version}")
    sha = re.search(r"^SHA256: ([0-9a-f]{64})$", process.query(*show.argv).output, re.M)
    if not sha:
        what = f"apt's index has no SHA-256 for {offer.package} {offer.version}"
        remedy = "run apt-get update, or name your own kernel tree with --source DIR"
        raise UserError(what, remedy=remedy)
    return sha[1]


def _mirror() -> tuple[str, str]:
    """The configured mirrors of Debian's main and security archives (security: "" if none)."""
    form = "$(REPO_URI) $(RELEASE) $(COMPONENT)"
    finished = process.query("apt-get", "indextargets", "--format", form, "Created-By: Packages")
    rows = re.findall(r"^(\S+) (\S+) main$", finished.output, re.M)
    main = [uri for uri, suite in rows if suite in RELEASES]
    security = [uri for uri, suite in rows if suite.endswith("-security")]
    if not main:
        remedy = (
            "add a Debian mirror to apt's sources; for a base, --source DIR names your own tree"
        )
        raise UserError("apt has no Debian mirror configured", remedy=remedy)
    return main[0], security[0] if security else ""

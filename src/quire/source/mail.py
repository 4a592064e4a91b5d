# SPDX-License-Identifier: GPL-2.0
"""Read a user's own series: mail, a patch, a quilt series, or a directory of patches.

Mail is the output of `git format-patch --stdout`, or a whole mailing-list thread, read by b4.

b4 decodes the mails, distinguishes replies from patches, and takes the newest version, including
patches rerolled in replies. It runs as a separate process, without the network.
"""

import email
import email.policy
import gzip
import mailbox
import re
import shutil
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from email.message import EmailMessage
from pathlib import Path

from quire.host import process
from quire.host.cache import Cache, digest
from quire.host.errors import UserError
from quire.source import series
from quire.source.patch import Patch, subject_of
from quire.source.series import Series
from quire.source.version import VersionRange

B4 = "b4"
# Otherwise b4 looks up signing keys.
OFFLINE = {
    "GIT_CONFIG_COUNT": "1",
    "GIT_CONFIG_KEY_0": "b4.attestation-policy",
    "GIT_CONFIG_VALUE_0": "off",
}
# Maximum missing patches to list.
MISSING = 3
INSTALL = "apt-get install b4, or pipx install b4"
_MAIL = re.compile(r"From |From:|Subject:|Date:|Return-Path:|Received:")
_NUMBER = re.compile(r"\[[^]]*?\b(\d+)/(\d+)\s*\]")
_COVER = re.compile(r"\[[^]]*?\b0+/\d+\s*\]")
_VERSION = re.compile(r"\[[^]]*?\bv(\d+)\b", re.I)
_REPLY = re.compile(r"(?:Re|RE|Fwd):")
_MISSING = re.compile(r"ERROR: missing \[(\d+/\d+)\]")
# A Message-ID, or its address in a list's archive.
_ID = re.compile(r"<?[^\s/<>]+@[^\s/<>]+>?|https://\S+/\S+@\S+")
_DIFF = re.compile(r"^diff --git ", re.M)


@dataclass(frozen=True)
class ThreadChoice:
    """A selection of a thread: `version` 0 is the newest. `partial`: patches may be missing."""

    version: int = 0
    partial: bool = False


def is_mail(path: Path) -> bool:
    """Tell whether the file begins like a mailbox or a mail, compressed or not."""
    return bool(_MAIL.match(_bytes(path)[:80].decode(errors="replace")))


def is_message_id(text: str) -> bool:
    """Tell whether this names a mail on a list rather than a file."""
    return bool(_ID.fullmatch(text)) and not Path(text).exists()


def fetch(cache: Cache, message_id: str) -> Path:
    """Get a mail's thread from its list's archive, as a mailbox. UserError if b4 cannot."""
    directory = cache.path("thread", digest(message_id))
    directory.mkdir(parents=True, exist_ok=True)
    argv = [_b4(), "-n", "mbox", "-o", str(directory), "-n", "thread", message_id.strip("<>")]
    finished = process.run(process.Command(argv))
    if finished.status or not (found := sorted(directory.glob("thread*"))):
        remedy = "save the thread (t.mbox.gz in the list's archive), and name that file"
        raise UserError(f"cannot get the thread of {message_id}", finished.output, remedy)
    return found[0]


def patches(cache: Cache, file: Path, choice: ThreadChoice) -> list[Patch]:
    """Return a mailbox's patches, in order.

    UserError if one of them is missing or truncated. Lists replies with a diff, which are left
    out, on stderr.
    """
    plain = _plain(cache, file)
    messages = list(_messages(plain))
    thread = _is_thread(messages)
    chosen = _split(cache, _thread(cache, plain, choice) if thread else plain, file.name)
    for patch in chosen:
        # A truncated mail is malformed: report that before copying a kernel.
        patch.parsed()
    if not thread:
        return _numbered(chosen, choice)
    subjects = {patch.subject() for patch in chosen}
    for message in messages:
        subject = subject_of(message)
        # Not a patch of any version in the thread.
        if _has_diff(message) and not (subject.startswith("[") or subject in subjects):
            print(f"quire: left out: {subject} (a diff in a reply)", file=sys.stderr)
    return chosen


def covers(cache: Cache, file: Path) -> list[str]:
    """Return a mailbox's cover letters, those of the newest version first."""
    found = []
    for message in _messages(_plain(cache, file)):
        subject = subject_of(message)
        body = message.get_body(("plain",))
        if body and _COVER.search(subject) and not _REPLY.match(subject):
            number = _VERSION.search(subject)
            found.append((int(number[1]) if number else 1, str(body.get_content())))
    return [text for _, text in sorted(found, key=lambda pair: -pair[0])]


def _bytes(path: Path) -> bytes:
    data = path.read_bytes()
    try:
        return gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data
    except (OSError, EOFError) as error:
        raise UserError(
            "cannot decompress the mailbox", f"{path}: {error}", "download it again"
        ) from error


def _plain(cache: Cache, file: Path) -> Path:
    """The decompressed mailbox; a mail saved alone gets the line that begins each mail."""
    data = _bytes(file)
    if not data.startswith(b"From "):
        data = b"From mboxrd@z Thu Jan  1 00:00:00 1970\n" + data
    elif data == file.read_bytes():
        return file

    def build(directory: Path) -> None:
        (directory / "mbox").write_bytes(data)

    return cache.make("unpacked", digest(data), build) / "mbox"


def _messages(file: Path) -> Iterator[EmailMessage]:
    # The standard library's mailbox locks nothing unless told to.
    for message in mailbox.mbox(file, create=False):
        parsed = email.message_from_bytes(message.as_bytes(), policy=email.policy.default)
        assert isinstance(parsed, EmailMessage)
        yield parsed


def _is_thread(messages: Sequence[EmailMessage]) -> bool:
    """Whether b4 can group the mails: IDs everywhere, and numbers or replies."""
    if not all(message["Message-ID"] for message in messages):
        return False
    related = any(message["In-Reply-To"] for message in messages)
    return len(messages) == 1 or related or any(_NUMBER.search(subject_of(m)) for m in messages)


def _thread(cache: Cache, mbox: Path, choice: ThreadChoice) -> Path:
    """The series that b4 extracts from a thread, for git am."""

    def build(directory: Path) -> None:
        argv = [_b4(), "-n", "--offline-mode", "am", "--no-cache", "--no-add-trailers"]
        argv += ["--no-cover", "-o", str(directory), "-n", "series", "-m", str(mbox)]
        argv += ["-v", str(choice.version)] if choice.version else []
        finished = process.run(process.Command(argv, env=OFFLINE))
        _require_all(_MISSING.findall(finished.output), choice)
        if finished.status or not (directory / "series.mbx").is_file():
            remedy = "name a file of git format-patch --stdout, or another --version"
            raise UserError("b4 found no series in the mailbox", finished.output, remedy)

    key = digest(mbox, choice.version, choice.partial)
    return cache.make("thread", key, build) / "series.mbx"


def _b4() -> str:
    if not shutil.which(B4):
        raise UserError("a thread of mails needs b4, which is not installed", remedy=INSTALL)
    return B4


def _split(cache: Cache, mbox: Path, name: str) -> list[Patch]:
    """The mails that have a diff and are not replies."""

    def build(directory: Path) -> None:
        argv = ["git", "mailsplit", "-b", "-d4", f"-o{directory}", "--", str(mbox)]
        remedy = "write one with git format-patch --stdout or b4 am"
        process.check(process.Command(argv), f"{mbox} is not a mailbox", remedy, UserError)
        for mail in directory.iterdir():
            _decode(mail)

    mails = sorted(cache.make("mailbox", digest(mbox, "decoded"), build).glob("[0-9]*"))
    found = [Patch(f"{mail.name} of {name}", mail) for mail in mails]
    return [patch for patch in found if patch.diff() and not _REPLY.match(patch.full_subject())]


def _decode(mail: Path) -> None:
    """Undo a mail's base64 or quoted-printable, which hides the diff."""
    message = email.message_from_bytes(mail.read_bytes(), policy=email.policy.default)
    body = message.get_body(("plain",)) if isinstance(message, EmailMessage) else None
    if body and str(body["Content-Transfer-Encoding"]).lower() in ("base64", "quoted-printable"):
        body.set_content(body.get_content(), cte="8bit")
        mail.write_bytes(message.as_bytes())


def _numbered(found: list[Patch], choice: ThreadChoice) -> list[Patch]:
    """Sort by number if all subjects have one. UserError for missing or repeated numbers."""
    numbers = [_NUMBER.search(patch.full_subject()) for patch in found]
    if not found or not all(numbers):
        return found
    # Of several with a number, the first stays.
    pairs = reversed([*zip(numbers, found, strict=True)])
    by_number = {int(n[1]): patch for n, patch in pairs if n}
    if repeated := [patch for patch in found if patch not in by_number.values()]:
        what = f"several patches of the mailbox have the same number: {repeated[0].full_subject()}"
        raise UserError(what, repeated[0].name, "keep one version, and no replies")
    count = max(int(n[2]) for n in numbers if n)
    _require_all([f"{n}/{count}" for n in range(1, count + 1) if n not in by_number], choice)
    return [patch for _, patch in sorted(by_number.items())]


def _require_all(missing: Sequence[str], choice: ThreadChoice) -> None:
    """UserError if patches are missing, unless a part is enough."""
    if missing and not choice.partial:
        more = f" and {len(missing) - MISSING} more" if missing[MISSING:] else ""
        remedy = "save the whole thread, or accept missing patches with --partial"
        what = f"the series lacks {', '.join(missing[:MISSING])}{more}"
        raise UserError(what, remedy=remedy)


def _has_diff(message: EmailMessage) -> bool:
    body = message.get_body(("plain",))
    return body is not None and bool(_DIFF.search(str(body.get_content())))


NEWEST = ThreadChoice()
_PLAIN_DIFF = re.compile(r"^(?:diff --git |--- \S.*\n\+\+\+ \S)", re.M)


def read_series(cache: Cache, path: Path, choice: ThreadChoice = NEWEST) -> Series:
    """Read the patches in `path`, in order. UserError for other files, or without patches."""
    file, found = path.resolve(), list[Patch]()
    if file.is_dir():
        file = file / "series"
        if file.is_file():
            return series.read(file)
        found = [Patch(patch.name, patch) for patch in sorted(file.parent.glob("*.patch"))]
    elif not file.is_file():
        remedy = "name a mailbox, a patch or a directory of patches"
        raise UserError("the series does not exist", str(file), remedy)
    elif is_mail(file):
        found = patches(cache, file, choice)
    elif _PLAIN_DIFF.search(file.read_text(errors="replace")):
        found = [Patch(file.name, file)]
    elif file.name.startswith("series"):
        return series.read(file)
    found = [patch for patch in found if patch.diff()]
    if not found:
        remedy = "name a mailbox (git format-patch --stdout, b4 am), a quilt series or a directory"
        raise UserError("the series contains no patches", str(path), f"{remedy} of *.patch files")
    return Series(file, VersionRange(), tuple(found))

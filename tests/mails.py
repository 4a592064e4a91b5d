# SPDX-License-Identifier: GPL-2.0
"""Mailboxes as lists have them, made here: patches of two files, versions, replies."""

from __future__ import annotations

import datetime
import gzip
from email.message import EmailMessage
from email.utils import format_datetime
from pathlib import Path

AUTHOR = "An Author <author@example.org>"


def diff(name: str, line: str) -> str:
    """Add `line` to mm/NAME.c."""
    file = f"mm/{name}.c"
    head = f"diff --git a/{file} b/{file}\n--- a/{file}\n+++ b/{file}\n@@ -1,2 +1,3 @@\n"
    return f"---\n {file} | 1 +\n\n{head} a\n+{line}\n b\n-- \n2.39.5\n"


def mail(subject: str, body: str, *, to: str = "", minute: int = 0, cte: str = "8bit") -> bytes:
    """One mail, of which the subject is the id, too; `to` is the subject that it answers."""
    message = EmailMessage()
    message["From"], message["To"], message["Subject"] = AUTHOR, "list@example.org", subject
    message["Message-ID"] = name(subject)
    when = datetime.datetime(2026, 5, 1, 10, minute, tzinfo=datetime.UTC)
    message["Date"] = format_datetime(when)
    if to:
        message["In-Reply-To"] = message["References"] = name(to)
    message.set_content(body, cte=cte)
    return message.as_bytes()


def name(subject: str) -> str:
    """The Message-ID of the mail with this subject."""
    return f"<{'-'.join(''.join(c if c.isalnum() else ' ' for c in subject).split())}@example.org>"


def patch(subject: str, line: str, *, to: str = "", minute: int = 0, cte: str = "8bit") -> bytes:
    """A patch of the file that the subject's last word names."""
    changed = diff(subject.rpartition(" ")[2], line)
    text = f"Change it.\n\nSigned-off-by: {AUTHOR}\n{changed}"
    return mail(subject, text, to=to, minute=minute, cte=cte)


def version(number: int, last: str = "") -> list[bytes]:
    """A cover and two patches, which add `one-vN` and `two-vN`."""
    tag, minute = f"v{number} " if number > 1 else "", 10 * number
    cover = f"[PATCH {tag}0/2] mm: two patches"
    mails = [mail(cover, "Both.\n", minute=minute, to=last)]
    for index, word in enumerate(("one", "two"), 1):
        subject = f"[PATCH {tag}{index}/2] mm: {word}"
        mails.append(patch(subject, f"{word}-v{number}", to=cover, minute=minute + index))
    return mails


def without_ids(mails: list[bytes]) -> list[bytes]:
    """The same mails as git format-patch --stdout writes them: nothing names or answers a mail."""
    names = (b"Message-ID:", b"In-Reply-To:", b"References:")
    return [
        b"".join(line for line in mail.splitlines(keepends=True) if not line.startswith(names))
        for mail in mails
    ]


def write(path: Path, mails: list[bytes]) -> Path:
    """The mailbox; compressed if its name says so."""
    data = b"".join(b"From mboxrd@z Thu Jan  1 00:00:00 1970\n" + mail + b"\n" for mail in mails)
    path.write_bytes(gzip.compress(data) if path.suffix == ".gz" else data)
    return path

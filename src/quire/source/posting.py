# SPDX-License-Identifier: GPL-2.0
"""A topic as mails for the list: cover letter, base commit, recipients.

`git format-patch --base` writes the patches of a checkout, with the base commit and the ids of the
patches below the topic. The recipients come from the tree's own scripts/get_maintainer.pl: its
maintainers in To, its reviewers and lists in Cc. The cover letter goes to all of them. The files
are for `git send-email` or `b4`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from email.utils import formataddr, parseaddr
from pathlib import Path

from quire.host import process
from quire.host.errors import UserError
from quire.host.git import git
from quire.source import checkout
from quire.source.checkout import Checkout, Commit

MAINTAINERS = "scripts/get_maintainer.pl"
# Whom the file lists, not who has changed the lines lately.
LISTED = ("--nogit", "--nogit-fallback", "--norolestats")
COVER = "0000-cover-letter.patch"


@dataclass(frozen=True)
class Recipients:
    """Addresses in the order of get_maintainer.pl, each once."""

    to: tuple[str, ...]
    cc: tuple[str, ...]

    def headers(self) -> str:
        """The lines To and Cc of a mail."""
        lines = ""
        for name, who in ("To", self.to), ("Cc", self.cc):
            if who:
                lines += f"{name}: " + ",\n\t".join(map(_encoded, who)) + "\n"
        return lines


@dataclass(frozen=True)
class Posting:
    """The mails of one topic, in order."""

    mails: tuple[Path, ...]
    recipients: Recipients


def author(ident: str) -> str:
    """The submitter as git writes it. UserError if the text is not `Name <address>`."""
    name, address = parseaddr(ident)
    if not name or "@" not in address:
        raise UserError(
            f"not an author: {ident}", remedy="give name and address: --author 'Name <address>'"
        )
    return f"{name} <{address}>"


def write(
    directory: Path, project: Path, out: Path, topics: Sequence[str], by: str | None
) -> list[Posting]:
    """Write each topic of the checkout in `directory` into a folder of `out`.

    UserError as checkout.read(), and when a topic's commits are not in a row, the tree has no
    get_maintainer.pl, or a folder has files already.
    """
    opened = checkout.read(directory, project)
    if not (directory / MAINTAINERS).is_file():
        raise UserError(
            f"the tree has no {MAINTAINERS}", str(directory), "use a complete kernel tree"
        )
    names = topics or list(dict.fromkeys(commit.topic for commit in opened.commits))
    return [_posting(directory, opened, name, out / name, by) for name in names]


def _row(commits: Sequence[Commit], topic: str) -> list[Commit]:
    """The commits of a topic, which must follow one another."""
    places = [place for place, commit in enumerate(commits) if commit.topic == topic]
    if not places:
        raise UserError(
            f"the checkout has no topic {topic}",
            remedy=f"it has: {', '.join(dict.fromkeys(commit.topic for commit in commits))}",
        )
    if places[-1] - places[0] != len(places) - 1:
        raise UserError(
            f"the commits of topic {topic} are not in a row",
            commits[places[-1]].slug,
            "reorder them: git rebase -i",
        )
    return [commits[place] for place in places]


def _posting(
    directory: Path, opened: Checkout, topic: str, folder: Path, by: str | None
) -> Posting:
    row = _row(opened.commits, topic)
    folder = folder.resolve()
    if folder.exists() and any(folder.iterdir()):
        raise UserError(f"{folder} is not empty", remedy="name another directory, or remove it")
    written = git(
        directory,
        "format-patch",
        f"--base={opened.base}",
        *checkout.DIFF_OPTIONS,
        "-o",
        str(folder),
        f"{row[0].hash}^..{row[-1].hash}",
    )
    mails = [Path(line) for line in written.splitlines()]
    each = [_recipients(directory, mail) for mail in mails]
    everybody = _all(each)
    for mail, who in zip(mails, each, strict=True):
        _complete(mail, who, by, sign=True)
    cover = opened.series.file.parent / topic / COVER
    if cover.is_file():
        mails.insert(0, folder / COVER)
        mails[0].write_bytes(cover.read_bytes())
        _complete(mails[0], everybody, by, sign=False)
    return Posting(tuple(mails), everybody)


def _recipients(directory: Path, mail: Path) -> Recipients:
    to = _listed(directory, mail, "--nor", "--nol")
    everybody = _listed(directory, mail)
    return Recipients(tuple(to), tuple(one for one in everybody if one not in to))


def _listed(directory: Path, mail: Path, *options: str) -> list[str]:
    command = process.Command(["perl", MAINTAINERS, *LISTED, *options, str(mail)], cwd=directory)
    finished = process.run(command)
    if finished.status:
        raise UserError(
            f"{MAINTAINERS} failed", finished.output.strip()[-500:], "read its message above"
        )
    return [line.strip() for line in finished.output.splitlines() if "@" in line]


def _all(each: Sequence[Recipients]) -> Recipients:
    to = list(dict.fromkeys(one for who in each for one in who.to))
    cc = dict.fromkeys(one for who in each for one in who.cc)
    return Recipients(tuple(to), tuple(one for one in cc if one not in to))


def _complete(mail: Path, who: Recipients, by: str | None, *, sign: bool) -> None:
    """Add the recipients at the end of the mail's header, and the submitter."""
    head, _, body = mail.read_text().partition("\n\n")
    if by:
        head = re.sub(r"^From: .*$", f"From: {_encoded(by)}", head, count=1, flags=re.M)
        if sign:
            message, line, rest = body.partition("\n---\n")
            body = f"{message}\n\nSigned-off-by: {by}{line}{rest}"
    mail.write_text(f"{head}\n{who.headers()}\n{body}")


def _encoded(ident: str) -> str:
    """Name and address for a header; a name that is not ASCII is encoded."""
    name, address = parseaddr(ident)
    return formataddr((name, address)) if name else address

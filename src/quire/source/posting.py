# SPDX-License-Identifier: GPL-2.0
"""A topic as mails for the list, which `git send-email` or `b4` can take.

`git format-patch --base` writes the patches of a checkout, with the base commit and the ids of the
patches below the topic. As with `b4 prep --auto-to-cc`, every mail of a topic goes to all that the
tree's own scripts/get_maintainer.pl names: maintainers in To, reviewers and lists in Cc.
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
from quire.source.checkout import COVER, Checkout, Commit

MAINTAINERS = "scripts/get_maintainer.pl"
# Whom the file lists, not who has changed the lines lately.
LISTED = ("--nogit", "--nogit-fallback", "--norolestats")


@dataclass(frozen=True)
class Posting:
    """The mails of one topic, in order, and the addresses in each: every one is named once."""

    mails: tuple[Path, ...]
    to: tuple[str, ...]
    cc: tuple[str, ...]


def author(ident: str) -> str:
    """The submitter as git writes it. UserError if the text is not `Name <address>`."""
    name, address = parseaddr(ident)
    if not name or "@" not in address:
        remedy = "give name and address: --author 'Name <address>'"
        raise UserError(f"not an author: {ident}", remedy=remedy)
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
        remedy = "use a complete kernel tree"
        raise UserError(f"the tree has no {MAINTAINERS}", str(directory), remedy)
    known = dict.fromkeys(commit.topic for commit in opened.commits)
    if unknown := [name for name in topics if name not in known]:
        remedy = f"it has: {', '.join(known)}"
        raise UserError(f"the checkout has no topic {', '.join(unknown)}", remedy=remedy)
    return [_posting(directory, opened, name, out / name, by) for name in topics or known]


def _posting(
    directory: Path, opened: Checkout, topic: str, folder: Path, by: str | None
) -> Posting:
    first, last = _range(opened.commits, topic)
    folder = folder.resolve()
    if folder.exists() and any(folder.iterdir()):
        raise UserError(f"{folder} is not empty", remedy="name another directory, or remove it")
    words = [f"--base={opened.base}", *checkout.DIFF_OPTIONS, "-o", str(folder)]
    words += ["--signoff"] if by else []
    name, address = parseaddr(by or "")
    identity = {"GIT_COMMITTER_NAME": name, "GIT_COMMITTER_EMAIL": address} if by else {}
    listed = git(directory, "format-patch", *words, f"{first}^..{last}", env=identity)
    mails = [Path(line) for line in listed.splitlines()]
    to = _listed(directory, mails, "--nor", "--nol")
    cc = [who for who in _listed(directory, mails) if who not in to]
    cover = opened.series.file.parent / topic / COVER
    if cover.is_file():
        mails.insert(0, folder / COVER)
        mails[0].write_bytes(cover.read_bytes())
    headers = [f"{key}: " + ",\n\t".join(who) for key, who in (("To", to), ("Cc", cc)) if who]
    for mail in mails:
        head, _, body = mail.read_text().partition("\n\n")
        if by:
            head = re.sub(r"^From: .*$", f"From: {_encoded(by)}", head, count=1, flags=re.M)
        mail.write_text("\n".join([head, *headers, "", body]))
    return Posting(tuple(mails), tuple(to), tuple(cc))


def _range(commits: Sequence[Commit], topic: str) -> tuple[str, str]:
    """The first and the last commit of a topic, between which there are only its commits."""
    if between := checkout.in_a_row(commits, topic):
        return between
    last = [commit.slug for commit in commits if commit.topic == topic][-1]
    what = f"the commits of topic {topic} are not in a row"
    raise UserError(what, last, "reorder them: git rebase -i")


def _listed(directory: Path, mails: Sequence[Path], *options: str) -> list[str]:
    """The addresses for these mails, for a header, in the script's order."""
    argv = ["perl", MAINTAINERS, *LISTED, *options, *map(str, mails)]
    what = f"{MAINTAINERS} failed"
    text = process.check(process.Command(argv, directory), what, "read above", UserError)
    return [_encoded(line.strip()) for line in text.splitlines() if "@" in line]


def _encoded(ident: str) -> str:
    """Name and address for a header; a name that is not ASCII is encoded."""
    name, address = parseaddr(ident)
    return formataddr((name, address)) if name else address

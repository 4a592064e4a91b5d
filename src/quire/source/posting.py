# SPDX-License-Identifier: GPL-2.0
"""Write a topic as mails for the list, for `git send-email` or `b4`.

A topic, or a group of its patches (GROUPS), is posted with the patches that it needs, directly on
the base. `git format-patch --base` names the base commit. As with `b4 prep --auto-to-cc`, every
mail goes to everyone whom the tree's scripts/get_maintainer.pl names: maintainers in To, reviewers
and lists in Cc.
"""

import re
import tempfile
import textwrap
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from email.utils import formataddr, parseaddr
from pathlib import Path

from quire.host import data, process
from quire.host.errors import UserError
from quire.host.git import IDENTITY, git
from quire.source import checkout
from quire.source.checkout import COVER, Checkout, Commit
from quire.source.patch import Patch
from quire.source.series import Series

MAINTAINERS = "scripts/get_maintainer.pl"
# Use MAINTAINERS, not recent authors of the lines.
LISTED = ("--nogit", "--nogit-fallback", "--norolestats")
# The cover letter of a group; checkout.cover_of() writes the numbers and the list.
_COVER = """\
From 0000000000000000000000000000000000000000 Mon Sep 17 00:00:00 2001
From: Quire developers <quire@invalid>
Subject: [PATCH 0/0] {group.subject}

{group.cover}
Quire developers (0):
  -
"""


@dataclass(frozen=True)
class Posting:
    """The mails of one topic or group, in order, and the addresses in each, without repetition."""

    mails: tuple[Path, ...]
    to: tuple[str, ...]
    cc: tuple[str, ...]


def author(ident: str) -> str:
    """Return the submitter as git writes it. UserError if the text is not `Name <address>`."""
    name, address = parseaddr(ident)
    if not name or "@" not in address:
        remedy = "give name and address: --author 'Name <address>'"
        raise UserError(f"invalid author: {ident}", remedy=remedy)
    return f"{name} <{address}>"


def write(
    directory: Path, project: Path, out: Path, topics: Sequence[str], by: str | None
) -> list[Posting]:
    """Write each topic of the checkout in `directory` into a folder of `out`.

    UserError as for checkout.read(), and if a topic does not apply with what it needs, the tree has
    no get_maintainer.pl, or a folder is not empty.
    """
    opened = checkout.read(directory, project)
    if not (directory / MAINTAINERS).is_file():
        remedy = "use a complete kernel tree"
        raise UserError(f"the tree has no {MAINTAINERS}", str(directory), remedy)
    known = dict.fromkeys(commit.topic for commit in opened.commits)
    if unknown := [name for name in topics if name not in known]:
        remedy = f"it has: {', '.join(known)}"
        raise UserError(f"the checkout has no topic {', '.join(unknown)}", remedy=remedy)
    parts = [part for name in topics or known for part in _parts(opened, name)]
    return [_posting(directory, opened, part, (out / part.name).resolve(), by) for part in parts]


@dataclass(frozen=True)
class _Part:
    """Patches posted together: a topic or some of its patches, and an optional cover letter."""

    name: str
    patches: tuple[str, ...]
    cover: str


def _parts(opened: Checkout, topic: str) -> Iterator[_Part]:
    found = groups_of(opened.series, topic)
    for group, names in found.items():
        yield _Part(
            f"{topic}-{group.name}", tuple(names), group.cover and _COVER.format(group=group)
        )
    if not found:
        cover = opened.series.file.parent / topic / COVER
        yield _Part(topic, (topic,), cover.read_text() if cover.is_file() else "")


def _posting(
    directory: Path, opened: Checkout, part: _Part, folder: Path, by: str | None
) -> Posting:
    if folder.exists() and any(folder.iterdir()):
        raise UserError(f"{folder} is not empty", remedy="name another directory, or remove it")
    words = [f"--base={opened.base}", *checkout.DIFF_OPTIONS, "-o", str(folder)]
    words += ["--signoff"] if by else []
    name, address = parseaddr(by or "")
    identity = {"GIT_COMMITTER_NAME": name, "GIT_COMMITTER_EMAIL": address} if by else {}
    chosen, note = _chosen(opened, part)
    new = _alone(directory, opened.base, chosen)
    listed = git(directory, "format-patch", *words, f"{opened.base}..{new[-1]}", env=identity)
    mails = [Path(line) for line in listed.splitlines()]
    to = _listed(directory, mails, "--nor", "--nol")
    cc = [who for who in _listed(directory, mails) if who not in to]
    if part.cover:
        mails.insert(0, folder / COVER)
        text = checkout.cover_of(directory, part.cover, new[0], new[-1], note)
        mails[0].write_text(text)
    headers = [f"{key}: " + ",\n\t".join(who) for key, who in (("To", to), ("Cc", cc)) if who]
    for mail in mails:
        head, _, body = mail.read_text().partition("\n\n")
        if by:
            head = re.sub(r"^From: .*$", f"From: {_encoded(by)}", head, count=1, flags=re.M)
        mail.write_text("\n".join([head, *headers, "", body]))
    return Posting(tuple(mails), tuple(to), tuple(cc))


def _chosen(opened: Checkout, part: _Part) -> tuple[list[Commit], str]:
    """A topic's commits and those that it needs, and the cover letter's text about the latter.

    UserError if the checkout lacks one.
    """
    series = opened.series
    reasons = series.reasons(part.patches)
    needed = {patch.unnumbered: needs for patch, needs in reasons.items() if needs}
    patches = checkout.patches_of(opened.commits, series.file.parent)
    names = [patch.unnumbered for patch in patches]
    if missing := [name for name in needed if name not in names]:
        what = f"the checkout has no patch {missing[0]}, which {part.name} needs"
        remedy = "export the checkout first, which reports the stale need"
        raise UserError(what, str(series.file), remedy)
    both = zip(opened.commits, names, strict=True)
    wanted = {patch.unnumbered for patch in reasons} | {*part.patches}
    chosen = [(commit, name) for commit, name in both if {commit.topic, name} & wanted]
    numbers: dict[str, list[str]] = {}
    for number, (_, name) in enumerate(chosen, 1):
        if name in needed:
            why = "; ".join(dict.fromkeys(need.why for need in needed[name]))
            numbers.setdefault(why, []).append(str(number))
    head = "The numbers above exclude these patches of other topics:"
    lines = (f"  {', '.join(some)}: {why}" for why, some in numbers.items())
    note = "".join(textwrap.fill(line, 72, subsequent_indent="    ") + "\n" for line in lines)
    return [commit for commit, _ in chosen], f"{head}\n\n{note}\n" if note else ""


def _alone(directory: Path, base: str, commits: Sequence[Commit]) -> list[str]:
    """Recreate these commits directly on the base, without a branch. UserError if one fails."""
    new: list[str] = []
    with tempfile.TemporaryDirectory(prefix="quire-post-") as folder:
        env = {"GIT_INDEX_FILE": f"{folder}/index"}
        diff, message = Path(folder, "diff"), Path(folder, "message")
        git(directory, "read-tree", base, env=env)
        for commit in commits:
            words = ("--binary", "--full-index", "--output", str(diff), commit.hash)
            git(directory, "diff-tree", "-p", "--no-commit-id", *words)
            what = f"{commit.slug} does not apply without the patches before it"
            remedy = "add a `# needs:` line to the series file, and export"
            git(directory, "apply", "--cached", str(diff), env=env, what=what, remedy=remedy)
            shown = git(directory, "show", "-s", "--format=%an%n%ae%n%aI%n%B", commit.hash)
            name, address, date, text = shown.split("\n", 3)
            message.write_text(text)
            who = {"GIT_AUTHOR_NAME": name, "GIT_AUTHOR_EMAIL": address, "GIT_AUTHOR_DATE": date}
            tree = git(directory, "write-tree", env=env).strip()
            words = (tree, "-p", new[-1] if new else base, "-F", str(message))
            new.append(git(directory, "commit-tree", *words, env={**IDENTITY, **who}).strip())
    return new


def _listed(directory: Path, mails: Sequence[Path], *options: str) -> list[str]:
    """The addresses for these mails' header, in the script's order."""
    argv = ["perl", MAINTAINERS, *LISTED, *options, *map(str, mails)]
    what = f"{MAINTAINERS} failed"
    text = process.check(process.Command(argv, directory), what, "read above", UserError)
    return [_encoded(line.strip()) for line in text.splitlines() if "@" in line]


def _encoded(ident: str) -> str:
    """Name and address for a header; a name that is not ASCII is encoded."""
    name, address = parseaddr(ident)
    return formataddr((name, address)) if name else address


GROUPS = "groups.toml"
_GROUP_REMEDY = "give each [[group]] a name, a subject, and patches by their files' names"


@dataclass(frozen=True)
class Group:
    """A group: `patches` are file names without number and suffix, `cover` the letter's text."""

    name: str
    subject: str
    patches: tuple[str, ...]
    # Empty for a single patch, whose message says everything.
    cover: str = ""
    # Patches that go to security@kernel.org before a list.
    private: tuple[str, ...] = ()


def groups_of(series: Series, topic: str) -> dict[Group, list[str]]:
    """Return a topic's groups, each with its patches in this series; none if it is posted as a
    whole. UserError for a patch in no group or in several, and for an unknown name."""
    file = series.file.parent / topic / GROUPS
    groups = data.Table("group", Group, _GROUP_REMEDY, optional=True).read(file)
    if not groups:
        return {}
    listed = Counter(name for group in groups for name in group.patches)
    inside = [patch.unnumbered for patch in series.patches if patch.topic == topic]
    # A series for other versions may lack some.
    files = [Patch(f"{topic}/{path.name}", path).unnumbered for path in file.parent.glob("*.patch")]
    for name, times in listed.items():
        if f"{topic}/{name}" not in files or times != 1:
            what = f"{GROUPS} names {name} {'twice' if times > 1 else 'but there is no such patch'}"
            raise UserError(what, str(file), "name each patch once, as its file without the number")
    if missing := [name for name in inside if name.partition("/")[2] not in listed]:
        remedy = "add it to one, or remove the file"
        raise UserError(f"{missing[0]} is in no group", str(file), remedy)
    names = {group: [n for n in inside if n.partition("/")[2] in group.patches] for group in groups}
    return {group: some for group, some in names.items() if some}

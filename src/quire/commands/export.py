# SPDX-License-Identifier: GPL-2.0
"""Write a checkout made by quire tree back as the series, or as mails for the list.

Patches are normalised, so that the file of an unchanged patch does not change: no commit hash, no
git version, no blob hashes, numbered within each topic. Cover letters are kept.

  quire export linux-6.12.117
  quire export linux-6.12.117 --post OUT --only swapout --author 'Name <address>'

The `# needs:` lines of the series follow a patch whose number changes, or whose subject alone does;
a need of a patch that is gone is an error.

--post changes nothing in patches/. It writes each topic, with the patches that it needs, into a
folder of OUT: cover letter, base commit, and To and Cc by the tree's get_maintainer.pl. Then
checkpatch --strict must pass.
"""

import argparse
from pathlib import Path

from quire.check import series_check
from quire.commands import options
from quire.host.errors import Difference
from quire.session import Session
from quire.source import checkout, posting
from quire.source.patch import Patch


def add_arguments(part: argparse.ArgumentParser) -> None:
    """Add the checkout's path, and the options of a posting."""
    add = part.add_argument
    add("directory", type=Path, metavar="DIR", help="a checkout made by quire tree")
    add("--post", type=Path, metavar="OUT", help="write mails for the list into OUT")
    text = "with --post: who submits, as 'Name <address>'; adds From and Signed-off-by"
    add("--author", type=posting.author, metavar="IDENT", help=text)
    options.only(part)


def run(session: Session, arguments: argparse.Namespace) -> None:
    """Export and list what changed. Difference when checkpatch has a complaint about a mail."""
    if arguments.post:
        _post(session, arguments)
        return
    options.refuse(arguments, "author only", "without --post")
    series, changed = checkout.export(arguments.directory, session.project.writable())
    for name in changed:
        print(series.file.parent / name)
    noun = "file" if len(changed) == 1 else "files"
    print(f"{series.file.name}: {len(series.patches)} patches, {len(changed)} {noun} changed")


def _post(session: Session, arguments: argparse.Namespace) -> None:
    directory, root = arguments.directory, session.project.root
    topics = posting.write(
        directory, root, arguments.post, session.side_options.only, arguments.author
    )
    for topic in topics:
        to, cc = len(topic.to), len(topic.cc)
        print(f"{topic.mails[0].parent}: {len(topic.mails)} mails, {to} in To, {cc} in Cc")
    mails = [mail for topic in topics for mail in topic.mails if mail.name != checkout.COVER]
    patches = [Patch(f"{mail.parent.name}/{mail.name}", mail) for mail in mails]
    checks = series_check.style(directory.resolve(), root, patches)
    trouble = [f"{check.subject}: {check.trouble}" for check in checks if check.trouble]
    if trouble:
        raise Difference("checkpatch complains", "\n".join(trouble), "fix the commits")
    print(f"git send-email {arguments.post}/TOPIC/*.patch")
    if not arguments.author:
        print("before that: a From and a Signed-off-by of yours in each, or --author")

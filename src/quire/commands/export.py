# SPDX-License-Identifier: GPL-2.0
"""Write a checkout made by quire tree back as the series, or as mails for the list.

Patches are normalised, so that the file of an unchanged patch does not change: no commit hash, no
git version, no blob hashes, numbered within each topic. Cover letters are kept.

  quire export linux-6.12.117
  quire export linux-6.12.117 --post OUT --only swapout --author 'Name <address>'

--post changes nothing in patches/. It writes each topic into a folder of OUT: cover letter, base
commit, and To and Cc by the tree's get_maintainer.pl. Then checkpatch --strict must pass.
"""

import argparse
from pathlib import Path

from quire.check import series_check
from quire.host.errors import Difference
from quire.session import Session
from quire.source import checkout, posting
from quire.source.patch import Patch
from quire.source.posting import Posting


def add_arguments(part: argparse.ArgumentParser) -> None:
    """Add the checkout's path, and the options of a posting."""
    part.add_argument("directory", type=Path, metavar="DIR", help="a checkout made by quire tree")
    part.add_argument("--post", type=Path, metavar="OUT", help="write mails for the list into OUT")
    part.add_argument(
        "--author",
        type=posting.author,
        metavar="IDENT",
        help="with --post: who submits, as 'Name <address>'; adds From and Signed-off-by",
    )


def run(session: Session, arguments: argparse.Namespace) -> int:
    """Export and list what changed. Exit status 1 when checkpatch has a complaint about a mail."""
    if arguments.post:
        return _post(session, arguments)
    series, changed = checkout.export(arguments.directory, session.project.root)
    for name in changed:
        print(series.file.parent / name)
    noun = "file" if len(changed) == 1 else "files"
    print(f"{series.file.name}: {len(series.patches)} patches, {len(changed)} {noun} changed")
    return 0


def _post(session: Session, arguments: argparse.Namespace) -> int:
    directory = arguments.directory
    root = session.project.root
    postings = posting.write(
        directory, root, arguments.post, session.side_options.only, arguments.author
    )
    for one in postings:
        to, cc = len(one.recipients.to), len(one.recipients.cc)
        print(f"{one.mails[0].parent}: {len(one.mails)} mails, {to} in To, {cc} in Cc")
    _style(session, directory, postings)
    print(f"git send-email {arguments.post}/TOPIC/*.patch")
    if not arguments.author:
        print("before that: a From and a Signed-off-by of yours in each, or --author")
    return 0


def _style(session: Session, directory: Path, postings: list[Posting]) -> None:
    """Difference, with all complaints of checkpatch, if there are any."""
    mails = [mail for one in postings for mail in one.mails if mail.name != posting.COVER]
    patches = [Patch(f"{mail.parent.name}/{mail.name}", mail) for mail in mails]
    checks = series_check.style(directory.resolve(), session.project.root, patches)
    trouble = [f"{check.subject}: {check.trouble}" for check in checks if check.trouble]
    if trouble:
        raise Difference("checkpatch complains", "\n".join(trouble), "mend the commits")

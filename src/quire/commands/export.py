# SPDX-License-Identifier: GPL-2.0
"""Write a checkout made by quire tree back as the series, or as mails for the list.

Patches are normalised, so that an unchanged patch keeps its file unchanged: no commit hash, git
version or blob hashes; numbers count within each topic. Cover letters are kept.

  quire export linux-6.12.117
  quire export linux-6.12.117 --post OUT --only swapout --author 'Name <address>'

The `# needs:` lines of the series follow a patch that is renumbered, or retitled without other
changes. A need that names a removed patch is an error.

--post changes nothing in patches/. It writes each topic, with the patches that it needs, into a
folder of OUT, with a cover letter, the base commit, and To and Cc from the tree's
get_maintainer.pl. The mails must pass checkpatch --strict.
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
    text = "with --post: the submitter, as 'Name <address>'; adds From and Signed-off-by"
    add("--author", type=posting.author, metavar="IDENT", help=text)
    options.only(part)


def run(session: Session, arguments: argparse.Namespace) -> None:
    """Export and list what changed. Difference if checkpatch complains about a mail."""
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
        print("before that, add your From and Signed-off-by to each mail, or use --author")

# SPDX-License-Identifier: GPL-2.0
"""Convert a series to a git checkout and back: edit, rebase and amend there with ordinary git.

The base is the first commit and each patch is a commit on top. A commit belongs to the topic whose
patch in the series has the same subject. A new commit belongs to the topic of the preceding one,
unless its message has a trailer `Quire-topic: NAME`.
"""

import re
import shutil
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from quire.host import process
from quire.host.errors import UserError
from quire.host.git import IDENTITY, git, run_git
from quire.source import line as lines
from quire.source import series as series_files
from quire.source import version
from quire.source.apply import Contents, read_file, write
from quire.source.base import Base
from quire.source.patch import Patch
from quire.source.series import Series
from quire.source.tree import sources

# In the checkout's git configuration: the base's commit.
BASE_SETTING = "quire.base"
# Also there: the topics, if the checkout has only these and what they need.
ONLY_SETTING = "quire.only"
BRANCH = "quire"
_TOPIC = re.compile(r"^Quire-topic: *(\S+)\n?", re.M)
# The end of the message, including empty lines that a removed trailer leaves; git strips these.
_MESSAGE_END = re.compile(r"\n+^---$", re.M)
# For git format-patch: the same patch on every host.
MAIL_OPTIONS = ("-1", "--stdout", "--zero-commit", "--no-signature", "-N")
DIFF_OPTIONS = ("--no-renames", "--diff-algorithm=histogram", "--stat=72")
# The limit of git format-patch for file names.
SLUG_LENGTH = 52
# The list of all patches, from which variants take their numbers.
MAIN = "series"
COVER = "0000-cover-letter.patch"
# The part of a cover letter that the commits determine: `git shortlog`, and the diffstat.
_SHORTLOG = re.compile(r"^\S[^\n]* \(\d+\):\n(?:  |\n| \S).*\Z", re.M | re.S)


@dataclass(frozen=True)
class Commit:
    """One commit on top of the base: its hash, its folder, and the stem of its file name."""

    hash: str
    folder: str
    slug: str
    # Its file, if its list shares files with the main one but lacks some; the number stays.
    kept: Patch | None = None

    @property
    def topic(self) -> str:
        """The topic, within which patches are numbered; a variant's folder may have part of it."""
        return self.folder.partition("@")[0]


@dataclass(frozen=True)
class Checkout:
    """A checkout's contents: the base's commit, our series for its version, the commits on top."""

    base: str
    series: Series
    commits: list[Commit]


def checkout(base: Base, series: Series, directory: Path) -> str:
    """Create the checkout; return the base's commit. UserError if git am rejects a patch."""
    if directory.exists() and (not directory.is_dir() or any(directory.iterdir())):
        remedy = "name another directory, or remove it first"
        raise UserError(f"{directory} is not empty", remedy=remedy)
    try:
        return _checkout(base, series, directory)
    except BaseException:
        shutil.rmtree(directory, ignore_errors=True)
        raise


def _checkout(base: Base, series: Series, directory: Path) -> str:
    directory.mkdir(parents=True, exist_ok=True)
    copying = ["cp", "-a", "--reflink=auto", "-t", str(directory), *sources(base.path)]
    process.check(process.Command(copying))
    git(directory, "init", "-q", "-b", BRANCH)
    git(directory, "config", "gc.auto", "0")
    # Files that the tree's .gitignore excludes also belong to the base.
    git(directory, "add", "-A", "-f")
    message = f"Linux {base.version}\n\n{base.origin}\n{base.hash}\n"
    git(directory, "commit", "-q", "--no-verify", "-m", message, env=IDENTITY)
    commit = git(directory, "rev-parse", "HEAD").strip()
    git(directory, "config", BASE_SETTING, commit)
    if series.chosen:
        git(directory, "config", ONLY_SETTING, " ".join(series.chosen))
    words = ("am", "-q", "--committer-date-is-author-date", "--keep-non-patch")
    remedy = "the series is for another base, or the file is not `git format-patch` output"
    for patch in series.patches:
        what, file = f"patch {patch.name} does not apply as mail", str(patch.path.resolve())
        git(directory, *words, file, env=IDENTITY, what=what, remedy=remedy)
    return commit


def export(directory: Path, project: Path) -> tuple[Series, list[str]]:
    """Write the checkout's commits back as the series; return the series and the changed files.

    UserError if quire did not create the checkout, if it is not clean, if its history is not
    linear, if it has only some topics, or if a need names a missing patch. Either all files are
    written or none. A cover letter's patch count, list of commits and diffstat are updated.
    """
    opened = read(directory, project)
    if only := run_git(directory, "config", "--local", ONLY_SETTING).output.strip():
        remedy = "move the commits to a checkout of the whole series (quire tree), and export that"
        raise UserError(f"{directory} has only {only}: the rest would be lost", remedy=remedy)
    file = opened.series.file
    contents = _contents(directory, opened.series, opened.commits)
    changed = {
        name: data for name, data in contents.items() if data != read_file(file.parent / name)
    }
    write(file.parent, changed)
    return series_files.read(file), sorted(changed)


def read(directory: Path, project: Path) -> Checkout:
    """Return a checkout's commits, and the series that they form. UserError as for export()."""
    base = _base_commit(directory)
    if git(directory, "status", "--porcelain", "--untracked-files=no").strip():
        remedy = "commit or discard them first"
        raise UserError(f"{directory} has uncommitted changes", remedy=remedy)
    subject = git(directory, "show", "-s", "--format=%s", base).strip()
    number = version.parse(subject.removeprefix("Linux "))
    line = lines.of_version(project, number)
    if not line.series:
        remedy = "add a folder with a [series] to lines/: docs/dev/lines.md"
        raise UserError(f"no series for Linux {number}", str(line.folder), remedy)
    series = series_files.select(line.series, number)
    return Checkout(base, series, _commits(directory, base, series))


def normalise(mail: str) -> str:
    """Return a patch as mail without parts that vary while the patch stays the same.

    git options already omit the commit's own hash and git's version. This removes the blob hashes
    of `index` lines: they differ for every base, and text patches do not need them. A topic's
    trailer is removed with the empty line before it, which a rebase would remove too.
    """
    head, separator, diff = mail.partition("\ndiff --git ")
    diff = re.sub(r"^index [0-9a-f]+\.\.[0-9a-f]+(?: \d+)?\n", "", diff, flags=re.M)
    headers, blank, message = head.partition("\n\n")
    message = _MESSAGE_END.sub("\n---", _TOPIC.sub("", message), count=1)
    return (headers + blank + message + separator + diff).rstrip("\n") + "\n"


def _contents(directory: Path, series: Series, commits: Sequence[Commit]) -> Contents:
    """Return the series' files: patches by name, the series file; None for deleted files."""
    totals = Counter(commit.topic for commit in commits)
    patches = patches_of(commits, series.file.parent)
    contents: Contents = {}
    for commit, patch in zip(commits, patches, strict=True):
        number, total = int(patch.path.name.partition("-")[0]), totals[commit.topic]
        prefix = f"PATCH {number:0{len(str(total))}d}/{total}" if total > 1 else "PATCH"
        if commit.kept and (told := re.match(r"\[([^]]*)\]", commit.kept.full_subject())):
            prefix = told[1]
        words = (*MAIL_OPTIONS, *DIFF_OPTIONS, f"--subject-prefix={prefix}", commit.hash)
        contents[patch.name] = normalise(git(directory, "format-patch", *words)).encode()
    variants = series_files.variants(series.file.parent)
    others = {p.name for other in variants if other.file != series.file for p in other.patches}
    for patch in series.patches:
        if patch.name not in contents and patch.name not in others:
            contents[patch.name] = None
    text = _series_text(series, [patch.name for patch in patches])
    text = _renamed(series, contents, text)
    series_files.read_needs(text, series.file, patches)
    contents[series.file.name] = text.encode()
    for folder in dict.fromkeys(commit.folder for commit in commits):
        cover = series.file.parent / folder / COVER
        if cover.is_file() and (between := in_a_row(commits, folder.partition("@")[0])):
            text = cover.read_text()
            contents[f"{folder}/{COVER}"] = cover_of(directory, text, *between).encode()
    return contents


def patches_of(commits: Sequence[Commit], folder: Path) -> list[Patch]:
    """Return the file of each commit, numbered within its topic."""
    numbers: Counter[str] = Counter()
    patches = []
    for commit in commits:
        numbers[commit.topic] += 1
        if commit.kept:
            patches.append(commit.kept)
            numbers[commit.topic] = int(commit.kept.path.name.partition("-")[0])
            continue
        file = f"{numbers[commit.topic]:04d}-{commit.slug[:SLUG_LENGTH]}.patch"
        name = f"{commit.folder}/{file}" if commit.folder else file
        patches.append(Patch(name, folder / name))
    return patches


def _renamed(series: Series, contents: Contents, text: str) -> str:
    """The text of the series file with updated needs, where patches with the same diff got a new
    subject or topic."""
    new = {
        _diff(data.decode()): Patch(name, Path(name)).unnumbered
        for name, data in contents.items()
        if data is not None
    }
    for patch in series.patches:
        old = patch.unnumbered
        name = new.get(_diff(patch.path.read_text(errors="replace")), old)
        if name != old and old not in new.values():
            need = re.compile(rf"^(#\s*needs:.*?\s){re.escape(old)}(?=[:\s])", re.M)
            text = need.sub(rf"\g<1>{name}", text)
    return text


def _diff(mail: str) -> str:
    return mail.partition("\ndiff --git ")[2]


def in_a_row(commits: Sequence[Commit], topic: str) -> tuple[str, str] | None:
    """Return the first and last commit of a topic; None if others are in between."""
    places = [place for place, commit in enumerate(commits) if commit.topic == topic]
    if places[-1] - places[0] != len(places) - 1:
        return None
    return commits[places[0]].hash, commits[places[-1]].hash


def cover_of(directory: Path, text: str, first: str, last: str, note: str = "") -> str:
    """Return a cover letter with a note, the list of these commits, and their diffstat."""
    commits = f"{first}^..{last}"
    count = git(directory, "rev-list", "--count", commits).strip()
    listed = git(directory, "shortlog", "-w72,2,4", commits).strip("\n")
    stat = git(directory, "diff", "--no-renames", "--histogram", "--stat=80", first + "^", last)
    text = re.sub(r"\[PATCH 0+/\d+\]", f"[PATCH {'0' * len(count)}/{count}]", text, count=1)
    return _SHORTLOG.sub(lambda _: f"{note}{listed}\n\n{stat}", text)


def _series_text(series: Series, names: Sequence[str]) -> str:
    """The series file with its comments, each before the same topic as before."""
    comments: dict[str, list[str]] = {}
    waiting: list[str] = []
    folders = {patch.name: patch.folder for patch in series.patches}
    for line in series.file.read_text().splitlines():
        words = line.split("#")[0].split()
        if words and words[0] in folders:
            comments.setdefault(folders[words[0]], []).extend(waiting)
            waiting = []
        elif not words:
            waiting.append(line)
    first = series.patches[0].folder if series.patches else ""
    lines, after = (comments.pop(first, []), waiting) if series.patches else (waiting, [])
    for name in names:
        lines += comments.pop(name.rpartition("/")[0], [])
        lines.append(name)
    return "\n".join([*lines, *after]) + "\n"


def _commits(directory: Path, base: str, series: Series) -> list[Commit]:
    hashes = git(directory, "rev-list", "--reverse", f"{base}..HEAD").split()
    if merges := git(directory, "rev-list", "--merges", f"{base}..HEAD").split():
        what = "the checkout contains a merge, which a patch cannot represent"
        raise UserError(what, merges[0], "make the history linear: git rebase")
    known = {patch.subject(): patch for patch in series.patches}
    folder = series.patches[0].folder if series.patches else ""
    commits = []
    for commit in hashes:
        shown = git(directory, "show", "-s", "--format=%f%n%B", commit)
        slug, _, message = shown.partition("\n")
        subject = message.partition("\n")[0].strip()
        named = _TOPIC.search(message)
        patch = known.get(subject)
        folder = named[1] if named else patch.folder if patch else folder
        kept = patch if series.file.name != MAIN and not named else None
        commits.append(Commit(commit, folder, slug, kept))
    if commits and not commits[0].folder:
        remedy = "add a line to its message: Quire-topic: NAME"
        raise UserError("the topic of the first commit is unknown", commits[0].slug, remedy)
    return commits


def _base_commit(directory: Path) -> str:
    finished = run_git(directory, "config", "--local", BASE_SETTING)
    commit = finished.output.strip()
    if finished.status or run_git(directory, "merge-base", "--is-ancestor", commit, "HEAD").status:
        what = f"quire tree did not create {directory}, or its base commit is missing"
        raise UserError(what, commit, "create a checkout with: quire tree")
    return commit

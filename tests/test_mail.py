# SPDX-License-Identifier: GPL-2.0
"""Threads of mails: which patches they hold, and what is wrong with them."""

from __future__ import annotations

import os
import re
import shutil
from pathlib import Path

import mails
import pytest
from mails import diff, mail, patch, version, without_ids

from quire.host.cache import Cache
from quire.host.errors import UserError
from quire.source import mail as sources
from quire.source import nearest
from quire.source.mail import ThreadChoice, is_message_id
from quire.source.nearest import Stated

pytestmark = pytest.mark.skipif(not shutil.which("b4"), reason="needs b4 (quire doctor)")

ONE = "[PATCH 1/2] mm: one"
QUOTED = "".join(f"> {line}\n" for line in diff("one", "one-v1").splitlines())
CUT = mail("[PATCH] mm: one", diff("one", "x").partition("+x\n")[0])

# What a mailbox has, and the lines that its patches add.
READ: dict[str, tuple[list[bytes], str]] = {
    "one version": (version(1), "one-v1 two-v1"),
    "base64": ([patch("[PATCH] mm: one", "x", cte="base64")], "x"),
    "quoted-printable": ([patch("[PATCH] mm: one", "x=y", cte="quoted-printable")], "x=y"),
    "two versions": (version(1) + version(2), "one-v2 two-v2"),
    "two versions in one thread": (
        version(1) + version(2, "[PATCH 0/2] mm: two patches"),
        "one-v2 two-v2",
    ),
    "a patch rerolled in a reply": (
        [*version(1), patch("[PATCH v2 2/2] mm: two", "new", to="[PATCH 2/2] mm: two", minute=30)],
        "one-v1 new",
    ),
    "a reply in German that quotes": (
        [*version(1), mail(f"AW: {ONE}", QUOTED, to=ONE)],
        "one-v1 two-v1",
    ),
    "a reply in Swedish with the diff": (
        [*version(1), mail(f"SV: {ONE}", diff("one", "one-v1"), to=ONE)],
        "one-v1 two-v1",
    ),
    "a reply to a reply in Dutch with the diff": (
        [*version(1), mail(f"Antw: Re: {ONE}", diff("one", "one-v1"), to=ONE)],
        "one-v1 two-v1",
    ),
    "the order of arrival": (version(1)[::-1], "one-v1 two-v1"),
    "no thread": (version(1)[1:], "one-v1 two-v1"),
    "no numbers": ([patch("[PATCH] mm: one", "x"), patch("[PATCH] mm: two", "y")], "x y"),
    "git format-patch, reversed": (without_ids(version(1)[::-1]), "one-v1 two-v1"),
    "git format-patch in base64": (
        without_ids([patch("[PATCH] one", "ü", cte="base64")]),
        "ü",
    ),
    "quoted-printable without numbers": (
        [patch("[PATCH] mm: one", "x=y", cte="quoted-printable"), patch("[PATCH] two", "y")],
        "x=y y",
    ),
}
REFUSED: dict[str, tuple[list[bytes], str]] = {
    "a patch is missing": (version(1)[:2], "the series lacks 2/2"),
    "a mail is cut off": ([CUT], "malformed"),
    "a file is cut off": (without_ids([CUT]), "malformed"),
    "many patches are missing": ([patch("[PATCH 9/9] mm: one", "x")], "1/9, 2/9, 3/9 and 5 more"),
    "a patch of a file is missing": (without_ids(version(1)[:2]), "the series lacks 2/2"),
    "two versions in a file": (without_ids(version(1) + version(2)), "the same number"),
    "a reply in a file": (
        without_ids([*version(1), mail(f"Antw: {ONE}", diff("one", "one-v1"))]),
        "the same number: Antw",
    ),
    "no patch": ([mail("mm: a question", "Why?\n")], "no series|no patch"),
}


def added(cache: Cache, file: Path, choice: ThreadChoice = sources.NEWEST) -> str:
    """The lines that the patches in the file add."""
    series = sources.read_series(cache, file, choice)
    text = "".join(patch.diff() for patch in series.patches)
    return " ".join(re.findall(r"^\+([^+].*)$", text, re.M))


@pytest.fixture
def cache(tmp_path: Path) -> Cache:
    return Cache(tmp_path / "build")


@pytest.mark.parametrize("what", READ)
def test_patches_of_a_thread(cache: Cache, tmp_path: Path, what: str) -> None:
    given, wanted = READ[what]
    assert added(cache, mails.write(tmp_path / "t.mbox", given)) == wanted


@pytest.mark.parametrize("what", REFUSED)
def test_what_is_refused(cache: Cache, tmp_path: Path, what: str) -> None:
    given, said = REFUSED[what]
    with pytest.raises(UserError, match=said):
        added(cache, mails.write(tmp_path / "t.mbox", given))


def test_a_list_archives_download(cache: Cache, tmp_path: Path) -> None:
    assert added(cache, mails.write(tmp_path / "t.mbox.gz", version(1))) == "one-v1 two-v1"


def test_an_older_version_and_a_part(cache: Cache, tmp_path: Path) -> None:
    both = mails.write(tmp_path / "both.mbox", version(1) + version(2))
    assert added(cache, both, ThreadChoice(version=1)) == "one-v1 two-v1"
    half = mails.write(tmp_path / "half.mbox", version(1)[:2])
    assert added(cache, half, ThreadChoice(partial=True)) == "one-v1"
    file = mails.write(tmp_path / "file.mbox", without_ids(version(1)[:2]))
    assert added(cache, file, ThreadChoice(partial=True)) == "one-v1"


def test_a_diff_in_a_reply_is_named(
    cache: Cache, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = f"This should work:\n\n{diff('one', 'other')}"
    file = mails.write(tmp_path / "t.mbox", [*version(1), mail(f"Re: {ONE}", text, to=ONE)])
    assert added(cache, file) == "one-v1 two-v1"
    assert f"left out: Re: {ONE}" in capsys.readouterr().err


def test_which_words_are_ids() -> None:
    assert is_message_id("20260501-topic-v2-0@example.org")
    assert is_message_id("<a@example.org>")
    assert is_message_id("https://example.org/linux-mm/a@example.org")
    assert not is_message_id("topic.mbox")


def b4(folder: Path, monkeypatch: pytest.MonkeyPatch, script: str) -> None:
    """Replace b4 with this shell script."""
    program = folder / "bin" / "b4"
    program.parent.mkdir()
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(program.parent), prepend=os.pathsep)


def test_a_thread_by_its_id(cache: Cache, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    thread = mails.write(tmp_path / "t.mbox", version(1))
    copy = f'[ "$7" = a@example.org ] && cp {thread} "$4/thread.mbx"'
    b4(tmp_path, monkeypatch, f'[ "$*" = "-n mbox -o $4 -n thread a@example.org" ] && {copy}')
    assert sources.fetch(cache, "<a@example.org>").read_bytes() == thread.read_bytes()


def test_an_id_without_a_network(
    cache: Cache, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    b4(tmp_path, monkeypatch, "echo cannot resolve; exit 1")
    with pytest.raises(UserError, match=r"cannot get the thread of a@example\.org") as raised:
        sources.fetch(cache, "a@example.org")
    assert raised.value.remedy.startswith("save the thread (t.mbox.gz in the list's archive)")


SAYS = {
    "base-commit: 0123456789abcdef": ("0123456789abcdef", ""),
    "This applies cleanly on v7.3-rc4.": ("", "v7.3-rc4"),
    "It is based on Linux 6.12.94 and": ("", "6.12.94"),
    "Rebased on top of the latest mm-unstable": ("", "mm-unstable"),
    "against today's linux-next": ("", "linux-next"),
    "1.5 % faster; applies to 2 MiB folios": ("", ""),
}


@pytest.mark.parametrize("text", SAYS)
def test_what_a_cover_letter_says_of_its_base(text: str) -> None:
    assert nearest.stated(["Both.", text]) == Stated(*SAYS[text])


def test_the_cover_letter_of_the_newest_version_counts(cache: Cache, tmp_path: Path) -> None:
    first, second = version(1), version(2)
    first[0] = first[0].replace(b"Both.", b"Based on v7.2.")
    second[0] = second[0].replace(b"Both.", b"Based on v7.3.")
    path = mails.write(tmp_path / "t.mbox.gz", first + second)
    series = sources.read_series(cache, path)
    assert nearest.stated_by(cache, path, series) == Stated(name="v7.3")

# SPDX-License-Identifier: GPL-2.0
"""Errors by type: each has an exit code, a cause, a place and a remedy."""

import re


class QuireError(Exception):
    """Report an error to the user. `exit_code` is the process's exit status.

    what    what failed, in one sentence
    where   the file, patch, option or command that failed; may be several lines
    remedy  how to fix it
    """

    exit_code = 2

    def __init__(self, what: str, where: str = "", remedy: str = "") -> None:
        super().__init__(what)
        self.what = what
        self.where = where
        self.remedy = remedy

    def text(self) -> str:
        """Return the message for stderr, without colour."""
        lines = [f"quire: {self.what}"]
        lines += [f"  {line}" for line in self.where.splitlines()]
        if self.remedy:
            first, *rest = self.remedy.splitlines()
            lines.append(f"  remedy: {first}")
            lines += [f"          {line}" for line in rest]
        return "\n".join(lines)


class Difference(QuireError):
    """A test failed, or two things that must agree differ."""

    exit_code = 1


class UserError(QuireError):
    """A wrong argument, a wrong tree, or a missing prerequisite on this host."""

    exit_code = 2


class BuildFailed(QuireError):
    """A kernel, the guest or the plugin did not build."""

    exit_code = 3


class GuestLost(QuireError):
    """The guest panicked, hung, printed a splat or ended without a verdict."""

    exit_code = 4


def read(status: int, text: str) -> QuireError:
    """Parse the error that a quire process with this exit status printed."""
    said = re.search(r"^quire: (.*)\n((?:  (?!remedy: ).*\n?)*)((?:  remedy: .*\n?)?)", text, re.M)
    kinds = {kind.exit_code: kind for kind in (Difference, UserError, BuildFailed, GuestLost)}
    if not said or status not in kinds:
        what, remedy = "a command failed on a worker", "read its output"
        return BuildFailed(what, text.strip()[-2000:], remedy)
    where = "\n".join(line[2:] for line in said[2].splitlines())
    return kinds[status](said[1], where, said[3].strip().removeprefix("remedy: "))

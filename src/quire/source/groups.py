# SPDX-License-Identifier: GPL-2.0
"""The groups in which a topic of independent patches is posted: FOLDER/groups.toml.

Each patch of the topic is in one group. A group is posted with a cover letter of its own, for those
who maintain that code. Groups come in the order in which they should be posted.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from quire.host import data
from quire.host.errors import UserError
from quire.source.patch import Patch
from quire.source.series import Series

FILE = "groups.toml"
_REMEDY = "give each [[group]] a name, a subject, and patches by their files' names"


@dataclass(frozen=True)
class Group:
    """`patches` are file names without number and suffix; `cover` is the cover letter's text."""

    name: str
    subject: str
    patches: tuple[str, ...]
    # Empty for a single patch, whose message says all.
    cover: str = ""
    # Those that go to security@kernel.org before a list.
    private: tuple[str, ...] = ()


def read(series: Series, topic: str) -> dict[Group, list[str]]:
    """The groups of a topic, each with its patches as this series names them; none if the topic is
    posted as a whole. UserError for a patch in no group or in several, and for an unknown name."""
    file = series.file.parent / topic / FILE
    groups = data.Table("group", Group, _REMEDY, optional=True).read(file)
    if not groups:
        return {}
    listed = Counter(name for group in groups for name in group.patches)
    own = [patch.unnumbered for patch in series.patches if patch.topic == topic]
    # A series for other versions may lack some.
    files = [Patch(f"{topic}/{path.name}", path).unnumbered for path in file.parent.glob("*.patch")]
    for name, times in listed.items():
        if f"{topic}/{name}" not in files or times != 1:
            what = f"{FILE} names {name} {'twice' if times > 1 else 'and no patch is called that'}"
            raise UserError(what, str(file), "name each patch once, as its file without the number")
    if missing := [name for name in own if name.partition("/")[2] not in listed]:
        remedy = "add it to one, or remove the file"
        raise UserError(f"{missing[0]} is in no group", str(file), remedy)
    names = {group: [n for n in own if n.partition("/")[2] in group.patches] for group in groups}
    return {group: some for group, some in names.items() if some}

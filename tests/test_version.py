# SPDX-License-Identifier: GPL-2.0
from __future__ import annotations

from pathlib import Path

import pytest
from conftest import make_tree
from hypothesis import given
from hypothesis import strategies as st

from quire.host.errors import UserError
from quire.source import version
from quire.source.version import Version, VersionRange

VERSIONS = st.builds(Version, *(st.integers(0, 300) for _ in range(3)))


@given(VERSIONS)
def test_text_and_back(one: Version) -> None:
    assert version.parse(str(one)) == one


@given(VERSIONS, VERSIONS, VERSIONS)
def test_a_range_holds_what_lies_between(one: Version, two: Version, three: Version) -> None:
    first, middle, last = sorted((one, two, three))
    assert middle in VersionRange(first, last)
    assert middle in VersionRange(None, last)
    assert middle in version.parse_range(f"{first}-")
    assert (last in VersionRange(first, middle)) == (last == middle)


@pytest.mark.parametrize("text", ["6", "6.12.x", "six", "6.12-rc1", ""])
def test_what_is_no_version(text: str) -> None:
    with pytest.raises(UserError):
        version.parse(text)


def test_a_range_needs_a_dash() -> None:
    with pytest.raises(UserError, match="not a range"):
        version.parse_range("6.12.5")


def test_the_version_of_a_tree(tmp_path: Path) -> None:
    assert version.of_tree(make_tree(tmp_path / "linux", "6.12.94")) == Version(6, 12, 94)

# SPDX-License-Identifier: GPL-2.0
from __future__ import annotations

import re
from pathlib import Path

import pytest
from conftest import ROOT

from quire.arch import ARCHITECTURES
from quire.host.errors import BuildFailed, UserError
from quire.kernels import kconfig
from quire.source.line import Line, known

RESOLVED = 'CONFIG_A=y\nCONFIG_B=250\n# CONFIG_C is not set\nCONFIG_D="text with = sign"\n'


def test_options_and_values() -> None:
    assert kconfig.parse(RESOLVED) == {
        "CONFIG_A": "y",
        "CONFIG_B": "250",
        "CONFIG_C": "n",
        "CONFIG_D": '"text with = sign"',
    }


def test_what_did_not_survive_is_named(tmp_path: Path) -> None:
    (tmp_path / "one.config").write_text("CONFIG_A=y\nCONFIG_C=y\nCONFIG_B=1000\nCONFIG_E=n\n")
    (tmp_path / "two.config").write_text("CONFIG_B=250\nCONFIG_GONE=m\n")
    (tmp_path / ".config").write_text(RESOLVED)
    fragments = [tmp_path / "one.config", tmp_path / "two.config"]
    with pytest.raises(BuildFailed) as caught:
        kconfig.require(fragments, tmp_path / ".config")
    assert caught.value.where.splitlines()[:-1] == [
        "CONFIG_C: wanted y, is n (one.config)",
        "CONFIG_GONE: wanted m, is n (two.config)",
    ]
    fragments[0].write_text("CONFIG_A=y\n# CONFIG_C is not set\nCONFIG_E=n\n")
    kconfig.require(fragments[:1], tmp_path / ".config")


def test_comments_make_no_other_kernel(tmp_path: Path) -> None:
    one, other = tmp_path / "one.config", tmp_path / "other.config"
    one.write_text("# why\nCONFIG_A=y\n# CONFIG_B is not set\n")
    other.write_text("# better said\n\nCONFIG_A=y\n# CONFIG_B is not set\n")
    assert kconfig.options([one]) == kconfig.options([other])
    other.write_text("CONFIG_A=m\n# CONFIG_B is not set\n")
    assert kconfig.options([one]) != kconfig.options([other])


def test_a_fragment_that_is_not_there(tmp_path: Path) -> None:
    arm64: dict[str, tuple[Path, ...]] = {"all": (tmp_path / "common.config",), "arm64": ()}
    for fragments, said in ((arm64, r"common\.config"), ({}, "no configuration for arm64")):
        with pytest.raises(UserError, match=said):
            kconfig.fragments(Line("9.9", tmp_path, None, fragments), ARCHITECTURES["arm64"])


@pytest.mark.parametrize("line", known(ROOT), ids=lambda line: line.name)
@pytest.mark.parametrize("name", ARCHITECTURES)
def test_our_fragments_ask_for_what_is_measured(name: str, line: Line) -> None:
    """Trap 18: the measured paths have a distribution's options, built for speed."""
    fragments = kconfig.fragments(line, ARCHITECTURES[name])
    text = "".join(path.read_text() for path in fragments)
    options = kconfig.parse(text)
    # The fragment says so of an option that was removed because its feature is unconditional.
    options |= dict.fromkeys(re.findall(r"^# (CONFIG_\w+) is always on$", text, re.M), "y")
    wanted = "MEMCG LRU_GEN NUMA SWAP ZRAM USERFAULTFD KSM CC_OPTIMIZE_FOR_PERFORMANCE".split()
    wanted += {
        "arm64": "ARM64_CONTPTE ARM64_TLB_RANGE ARM64_HW_AFDBM ARM64_USE_LSE_ATOMICS".split(),
        "x86_64": ["MEM_SOFT_DIRTY"],
    }.get(name, [])
    assert [o for o in wanted if options.get(f"CONFIG_{o}") != "y"] == []

# SPDX-License-Identifier: GPL-2.0
"""Splats in real logs, from kernels made to print each of them."""

from __future__ import annotations

import pytest
from conftest import LOGS

from quire.boot import splat

KINDS = {
    "atomic-x86_64": "BUG",
    "badpage-arm64": "bad page",
    "badpage-x86_64": "bad page",
    "bug-arm64": "kernel BUG",
    "hung-x86_64": "hung task",
    "list-arm64": "list corruption",
    "list-x86_64": "list corruption",
    "lockdep-x86_64": "lockdep",
    "null-arm64": "Oops",
    "null-x86_64": "Oops",
    "panic-arm64": "panic",
    "panic-x86_64": "panic",
    "refcount-arm64": "refcount",
    "refcount-x86_64": "refcount",
    "rss-arm64": "bad rss-counter",
    "rss-x86_64": "bad rss-counter",
    "uaf-x86_64": "KASAN",
    "vmbug-x86_64": "kernel BUG",
    "warn-arm64": "warning",
    "warn-x86_64": "warning",
    "warntext-arm64": "warning",
}


@pytest.mark.parametrize("name", KINDS)
def test_each_kind_is_found(name: str) -> None:
    console = (LOGS / f"{name}.log").read_text()
    found = splat.find(console)
    assert found is not None
    assert found.kind == KINDS[name]


def test_every_log_is_used() -> None:
    names = {path.stem for path in LOGS.glob("*.log")}
    assert names == set(KINDS) | {"clean-arm64", "clean-x86_64"}


@pytest.mark.parametrize("name", ["clean-arm64", "clean-x86_64"])
def test_a_clean_boot_is_clean(name: str) -> None:
    """The x86 log is from a kernel with KASAN, lockdep and DEBUG_VM."""
    console = (LOGS / f"{name}.log").read_text()
    assert splat.find(console) is None
    assert len(splat.excerpt(console, None).splitlines()) == 40


@pytest.mark.parametrize(
    "line",
    [
        "[    0.000000] Kernel command line: console=ttyS0 -- test BUG: WARNING: Oops:",
        "[    0.100000] Spectre V2 : WARNING: Unprivileged eBPF is enabled",
        "[    0.000000] page_alloc: no BUG: here",
        "# page 3: WARNING: is wrong",
    ],
)
def test_words_inside_a_message_are_no_splat(line: str) -> None:
    assert splat.find(line) is None


@pytest.mark.parametrize(
    "line",
    [
        "BUG: Bad rss-counter state mm:0 type:MM_ANONPAGES val:5",
        "<4>[   12.345678] WARNING: CPU: 1 PID: 7 at mm/mremap.c:1 f+0x1/0x2",
        "[   12.345678][   T7] UBSAN: shift-out-of-bounds in mm/x.c:1:2",
        "[   12.345678] Out of memory: Killed process 7 (init)",
        "[   12.345678] get_swap_device: Bad swap file entry 3ffffffffffff",
        "[   12.345678] rcu: INFO: rcu_sched detected stalls on CPUs/tasks:",
        "[   12.345678] Call trace:",
    ],
)
def test_prefixes_and_further_kinds(line: str) -> None:
    assert splat.find(f"[    0.0] hello\n{line}\n") is not None


def test_the_excerpt_starts_at_the_splat() -> None:
    console = (LOGS / "warn-arm64.log").read_text()
    text = splat.excerpt(console, splat.find(console), lines=3)
    assert text.splitlines()[0].endswith("------------[ cut here ]------------")
    assert "splat_warn+0x0/0x8" in text

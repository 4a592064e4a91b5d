# SPDX-License-Identifier: GPL-2.0
"""Tests of the probe for a host whose seccomp filters hang."""

from quire.host import seccomp


def test_a_host_that_installs_filters_does_not_hang() -> None:
    assert not seccomp.hangs("pass")


def test_a_filter_that_is_never_installed_is_given_up() -> None:
    assert seccomp.hangs("import time; time.sleep(60)", 0.5)

# SPDX-License-Identifier: GPL-2.0
"""Debian packages of a kernel, by its own bindeb-pkg, and the boot that proves them."""

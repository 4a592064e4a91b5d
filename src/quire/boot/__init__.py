# SPDX-License-Identifier: GPL-2.0
"""Booting a kernel with a guest under QEMU, and reading what it reports."""

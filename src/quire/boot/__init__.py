# SPDX-License-Identifier: GPL-2.0
"""Boot a kernel with a guest under QEMU and parse what it reports."""

# SPDX-License-Identifier: GPL-2.0
"""Build a configuration, a kernel, the guest, the counting plugin."""

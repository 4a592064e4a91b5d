# SPDX-License-Identifier: GPL-2.0
"""Building: a configuration, a kernel, the guest, the counting plugin."""

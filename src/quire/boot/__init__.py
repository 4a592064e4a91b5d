# SPDX-License-Identifier: GPL-2.0
"""Boot a kernel with a guest, and parse its reports."""

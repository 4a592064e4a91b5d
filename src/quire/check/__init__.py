# SPDX-License-Identifier: GPL-2.0
"""Check a series and its configurations before posting."""

# SPDX-License-Identifier: GPL-2.0
"""Coverage: which blocks the programs reach in the functions that a series changes."""

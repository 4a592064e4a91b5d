# SPDX-License-Identifier: GPL-2.0
"""Measure which blocks the programs reach in the functions that a series changes."""

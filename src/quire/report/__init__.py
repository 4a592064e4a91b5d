# SPDX-License-Identifier: GPL-2.0
"""Present a comparison: table, plot, JSON."""

# SPDX-License-Identifier: GPL-2.0
"""Cost: which operations cost side b more than side a, though the programs see the same."""

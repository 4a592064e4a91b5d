# SPDX-License-Identifier: GPL-2.0
"""What the programs reach in the functions that a series changes."""

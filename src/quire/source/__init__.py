# SPDX-License-Identifier: GPL-2.0
"""Kernel source: a base, a series of patches, and the trees built from them."""

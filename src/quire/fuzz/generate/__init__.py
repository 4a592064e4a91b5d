# SPDX-License-Identifier: GPL-2.0
"""Making programs from a seed: single operations, recipes, whole programs."""

# SPDX-License-Identifier: GPL-2.0
"""Generating programs from a seed: single operations, recipes, whole programs."""

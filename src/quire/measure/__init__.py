# SPDX-License-Identifier: GPL-2.0
"""Counting: workloads, the boots that measure them, and comparisons of two sides."""

# SPDX-License-Identifier: GPL-2.0
"""Count instructions: the benchmarks, the boots that measure them, the comparison of two sides."""

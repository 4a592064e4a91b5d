# SPDX-License-Identifier: GPL-2.0
"""Count instructions: the workloads, the boots that measure them, the comparison of two sides."""

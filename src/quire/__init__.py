# SPDX-License-Identifier: GPL-2.0
"""The lab: builds stock and patched kernels, counts the cost of workloads, tests the kernels."""

__version__ = "0.2"

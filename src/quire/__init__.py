# SPDX-License-Identifier: GPL-2.0
"""The lab: builds stock and patched kernels, counts what they cost, tests them."""

__version__ = "0.1"

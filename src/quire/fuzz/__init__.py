# SPDX-License-Identifier: GPL-2.0
"""The fuzzer: runs the same programs of memory operations on two kernels and compares them."""

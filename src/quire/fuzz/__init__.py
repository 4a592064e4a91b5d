# SPDX-License-Identifier: GPL-2.0
"""The fuzzer: the same programs of memory operations on two kernels, and what differs."""

# SPDX-License-Identifier: GPL-2.0
"""Fuzz: run the same programs of memory operations on two kernels, and compare the results."""

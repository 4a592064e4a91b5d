# SPDX-License-Identifier: GPL-2.0
"""Time benchmarks on real CPUs: the timing program, boots under KVM, and the comparison."""

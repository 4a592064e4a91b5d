# SPDX-License-Identifier: GPL-2.0
"""Time on real CPUs: the program that times, boots of both sides under KVM, and the comparison."""

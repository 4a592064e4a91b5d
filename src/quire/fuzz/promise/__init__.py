# SPDX-License-Identifier: GPL-2.0
"""The oracle for one kernel: checks a record against what the kernel promises user space."""

# SPDX-License-Identifier: GPL-2.0
"""The oracle for one kernel: judges a record by what user space was promised."""

# SPDX-License-Identifier: GPL-2.0
"""The kernel's mm selftests: built from the base, run on both sides, compared."""

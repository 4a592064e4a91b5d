# SPDX-License-Identifier: GPL-2.0
"""The kernel's mm selftests: built from the base, run on stock and patched, compared."""

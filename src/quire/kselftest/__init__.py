# SPDX-License-Identifier: GPL-2.0
"""The kernel's own selftests of mm: built from the base, run on stock and patched, compared."""

# SPDX-License-Identifier: GPL-2.0
"""Find operations that cost more on side b than on side a, with the same visible results."""

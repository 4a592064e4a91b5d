# SPDX-License-Identifier: GPL-2.0
"""Keep the figures of the documents equal to what was counted."""

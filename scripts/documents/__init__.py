# SPDX-License-Identifier: GPL-2.0
"""The figures of the documents: what was counted, and where it is quoted."""

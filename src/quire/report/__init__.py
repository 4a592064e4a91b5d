# SPDX-License-Identifier: GPL-2.0
"""Present a comparison: table, page, dot plot, JSON; check the figures of documents."""

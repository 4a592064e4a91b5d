# SPDX-License-Identifier: GPL-2.0
"""Review a posted series: the parts of `quire report`."""

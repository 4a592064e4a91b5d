# SPDX-License-Identifier: GPL-2.0
"""Coverage of the patches: which of the lines that a series adds the tests have run."""

# SPDX-License-Identifier: GPL-2.0
"""Measure coverage of the patches: which lines that a series adds the tests run."""

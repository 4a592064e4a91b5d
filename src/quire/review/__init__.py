# SPDX-License-Identifier: GPL-2.0
"""A posted series, looked at: what `quire report` does and finds, one thing a file."""

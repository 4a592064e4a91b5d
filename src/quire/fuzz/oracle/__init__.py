# SPDX-License-Identifier: GPL-2.0
"""Comparing two records of one program: what differs, and which differences are excused."""

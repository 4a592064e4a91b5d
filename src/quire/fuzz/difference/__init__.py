# SPDX-License-Identifier: GPL-2.0
"""Compares two records of one program and excuses what a series changes on purpose."""

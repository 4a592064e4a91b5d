# SPDX-License-Identifier: GPL-2.0
"""A comparison for people and programs: table, picture, JSON."""

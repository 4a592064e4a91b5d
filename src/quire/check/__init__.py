# SPDX-License-Identifier: GPL-2.0
"""Checking a series and its configurations before they are sent."""

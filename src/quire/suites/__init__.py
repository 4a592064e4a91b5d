# SPDX-License-Identifier: GPL-2.0
"""Behaviour tests: the guest's suites, seeded bugs, KUnit, the soak test."""

# SPDX-License-Identifier: GPL-2.0
"""The fuzzer's programs and the records of running them, as text."""

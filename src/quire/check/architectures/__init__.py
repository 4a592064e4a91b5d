# SPDX-License-Identifier: GPL-2.0
"""Compile what a series touches for architectures and configurations that are never booted."""

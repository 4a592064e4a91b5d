# SPDX-License-Identifier: GPL-2.0
"""Build Debian packages of a kernel with its own bindeb-pkg, and boot them."""

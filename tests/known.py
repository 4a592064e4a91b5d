# SPDX-License-Identifier: GPL-2.0
"""The architectures by name, for tests."""

from quire.arch import KNOWN

ARM64, X86_64, I386 = KNOWN["arm64"], KNOWN["x86_64"], KNOWN["i386"]

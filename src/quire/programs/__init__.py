# SPDX-License-Identifier: GPL-2.0
"""Programs that others wrote: a Debian userland in the guest, their suites, their costs."""

# SPDX-License-Identifier: GPL-2.0
"""Build configurations, kernels, the guest and the counting plugin."""

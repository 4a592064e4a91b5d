# SPDX-License-Identifier: GPL-2.0
"""Run boots, and check's compilations, on the workers of a dask.distributed cluster."""

# SPDX-License-Identifier: GPL-2.0
"""Many machines: boots, and what check compiles, on the workers of a dask.distributed cluster."""

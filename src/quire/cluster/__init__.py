# SPDX-License-Identifier: GPL-2.0
"""Many machines: boots run on the workers of a dask.distributed cluster.

Only engine.py, client.py, scheduler.py and worker.py import the engine, and only commands that are
told to use a cluster import those.
"""

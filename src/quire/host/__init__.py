# SPDX-License-Identifier: GPL-2.0
"""What runs on the host: processes, files, the cache, progress, errors."""

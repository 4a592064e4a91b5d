# SPDX-License-Identifier: GPL-2.0
"""`python -m quire`."""

import sys

from quire.cli import main

sys.exit(main())

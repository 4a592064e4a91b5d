# SPDX-License-Identifier: GPL-2.0
"""One file per command: NAME, add_arguments(), run(); its docstring is its --help."""

from quire.commands import apply, bench, build, demo, doctor

ALL = (demo, bench, doctor, build, apply)

# SPDX-License-Identifier: GPL-2.0
"""One file per command: NAME, add_arguments(), run(); its docstring is its --help."""

from quire.commands import (
    apply,
    bench,
    build,
    check,
    demo,
    doctor,
    export,
    profile,
    shell,
    test,
    tree,
)

# In the order of the top-level --help.
ALL = (demo, bench, profile, test, shell, build, tree, export, apply, check, doctor)

# SPDX-License-Identifier: GPL-2.0
"""Runs quire as often as it is told, each time in a forked process.

To start Python and to import quire takes longer than most runs on fakes. Each line of stdin is one
run as JSON; its exit status is a line of stdout.
"""

from __future__ import annotations

import gc
import json
import os
import signal
import sys
from typing import Any

from quire import cli, commands


def run(order: dict[str, Any]) -> int:
    """Make this process the one that was ordered; the exit status of quire."""
    signal.alarm(order["seconds"])
    modes = (os.O_RDONLY, os.O_WRONLY, os.O_WRONLY)
    for number, (name, mode) in enumerate(zip(order["files"], modes, strict=True)):
        os.dup2(os.open(name, mode), number)
    os.chdir(order["cwd"])
    os.environ.clear()
    os.environ.update(order["env"])
    sys.argv[1:] = order["words"]
    return cli.main()


def main() -> None:
    """Serve until stdin ends. In a forked process, quire's exit is that of the interpreter."""
    for name in commands.NAMES:
        commands.load(name)
    gc.freeze()
    for line in sys.stdin:
        child = os.fork()
        if not child:
            sys.exit(run(json.loads(line)))
        _, status = os.waitpid(child, 0)
        print(os.waitstatus_to_exitcode(status), flush=True)


main()

# SPDX-License-Identifier: GPL-2.0
"""Run one order in a process of its own: python -m quire.cluster.call DIRECTORY ROOT JOBS.

DIRECTORY has the pickled order and receives the pickled reply. What the order starts ends with this
process: a worker ends it when nobody wants the reply any more.
"""

from __future__ import annotations

import pickle
import re
import signal
import sys
import zlib
from dataclasses import replace
from pathlib import Path

from quire.cluster import order
from quire.cluster.order import Order, Reply
from quire.host import process
from quire.host.cache import Cache
from quire.host.errors import QuireError

ORDER, REPLY = "order", "reply"
_LOG = re.compile(r"^(?:whole log: )(\S+)$", re.M)


def command(directory: Path, root: Path, jobs: int) -> process.Command:
    """The command that runs the order in `directory`."""
    words = ["-m", "quire.cluster.call", str(directory), str(root), str(jobs)]
    argv = process.die_with_us([sys.executable, *words])
    return process.Command(argv, log=directory / "log")


def main(directory: Path, root: Path, jobs: int) -> int:
    """Leave the reply; no reply if interrupted."""
    try:
        what: Order = pickle.loads((directory / ORDER).read_bytes())
        reply = _carry_out(what, Cache(root), directory / "files", jobs)
        (directory / REPLY).write_bytes(pickle.dumps(reply))
    except KeyboardInterrupt:
        return 128 + signal.SIGINT
    else:
        return 0
    finally:
        process.kill_all()


def _carry_out(what: Order, cache: Cache, scratch: Path, jobs: int) -> Reply:
    reply = Reply("", str(cache.root))
    try:
        function, arguments = order.read(what, cache, scratch)
        found = function(cache, jobs, *arguments)
    except QuireError as error:
        return replace(reply, error=error, logs=_logs([error.where]))
    return replace(reply, found=found, logs=_logs([one.trouble for one in found]))


def _logs(texts: list[str]) -> dict[str, bytes]:
    """The logs that the texts name."""
    paths = {Path(name) for text in texts for name in _LOG.findall(text)}
    return {str(path): zlib.compress(path.read_bytes()) for path in paths if path.is_file()}


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3])))

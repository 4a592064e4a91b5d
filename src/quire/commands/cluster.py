# SPDX-License-Identifier: GPL-2.0
"""Start a scheduler or a worker, for the commands that take --cluster.

Boots of fuzz, test, seeded and bench, and what check compiles, run on many machines
(docs/cluster.md). A scheduler runs whatever reaches its port: without certificates it listens on
this host alone.

  quire cluster scheduler                          prints its address
  quire cluster worker tcp://127.0.0.1:8786 -j 2   two machines at once
  quire cluster scheduler --tls DIR --host 10.0.0.1
  quire cluster worker tls://10.0.0.1:8786 --tls DIR --host 10.0.0.2
"""

import argparse
from pathlib import Path

from quire.cluster import option
from quire.cluster.security import LOOPBACK, Security
from quire.host.errors import UserError
from quire.session import Session

PORT = 8786


def add_arguments(part: argparse.ArgumentParser) -> None:
    """Add what to start, and where it listens."""
    part.add_argument("role", choices=("scheduler", "worker"))
    part.add_argument("address", nargs="?", help="of a worker's scheduler")
    part.add_argument(
        "--host", default=LOOPBACK, help="the address to listen on (default %(default)s)"
    )
    part.add_argument(
        "--port", type=int, default=PORT, help="the scheduler's (default %(default)s; 0: any)"
    )
    part.add_argument("--name", help="the worker's name (default: its address)")
    part.add_argument(
        "--tls", type=Path, metavar="DIR", help="certificates: DIR/ca.pem, cert.pem, key.pem"
    )


def run(session: Session, arguments: argparse.Namespace) -> int:
    """Serve until interrupted."""
    option.require_engine()
    security = Security(arguments.tls)
    security.require(arguments.host)
    blobs = session.cache.root / "cluster"
    if arguments.role == "scheduler":
        from quire.cluster import scheduler  # noqa: PLC0415 -- only here

        scheduler.serve(arguments.host, arguments.port, security, blobs / "scheduler")
        return 0
    if not arguments.address:
        raise UserError(
            "a worker needs its scheduler's address", "", "quire cluster worker ADDRESS"
        )
    security.require_address(arguments.address)
    from quire.cluster import worker  # noqa: PLC0415 -- only here

    name = arguments.name
    where = (arguments.address, arguments.host, session.jobs, name, security)
    worker.serve(*where, blobs / (name or "worker"))
    return 0

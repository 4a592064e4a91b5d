# SPDX-License-Identifier: GPL-2.0
"""Start a scheduler or a worker, for the commands that take --cluster.

Boots of fuzz, test, seeded and bench, and what check compiles, run on many machines
(docs/dev/cluster.md). A scheduler runs whatever reaches its port: without certificates it listens
on this host alone.

  quire cluster scheduler                          prints its address
  quire cluster worker tcp://127.0.0.1:8786 -j 2   two machines at once
  quire cluster scheduler --tls DIR --host 10.0.0.1
  quire cluster worker tls://10.0.0.1:8786 --tls DIR --host 10.0.0.2
"""

import argparse
import asyncio
from pathlib import Path

from quire.cluster import option
from quire.commands import options
from quire.host.errors import UserError
from quire.session import Session

PORT = 8786


def add_arguments(part: argparse.ArgumentParser) -> None:
    """Add what to start, and where it listens."""
    add = part.add_argument
    add("role", choices=("scheduler", "worker"))
    add("address", nargs="?", help="of a worker's scheduler")
    add("--host", default="127.0.0.1", help="the address to listen on (default %(default)s)")
    text = "the scheduler's (default %(default)s; 0: any)"
    add("--port", type=int, default=PORT, help=text)
    add("--name", help="the worker's name (default: its address)")
    text = "certificates: DIR/ca.pem, cert.pem, key.pem"
    add("--tls", type=Path, metavar="DIR", help=text)
    options.jobs(part)


def run(session: Session, arguments: argparse.Namespace) -> None:
    """Serve until interrupted."""
    other = "address name jobs" if arguments.role == "scheduler" else "port"
    options.refuse(arguments, other, f"for a {arguments.role}")
    option.require_engine()
    from quire.cluster import policy, worker  # noqa: PLC0415 -- only here

    policy.configure()
    host, address, tls = arguments.host, arguments.address, arguments.tls
    policy.require(f"{'tls' if tls else 'tcp'}://{host}:{arguments.port}", tls)
    if arguments.role == "scheduler":
        asyncio.run(worker.schedule(host, arguments.port, tls))
        return
    if not address:
        remedy = "quire cluster worker ADDRESS"
        raise UserError("a worker needs its scheduler's address", "", remedy)
    policy.require(address, tls)
    policy.connect(address, address, tls).close()
    directory = session.cache.root / "cluster" / (arguments.name or "worker")
    asyncio.run(worker.work(address, host, session.jobs, arguments.name, tls, directory))

# SPDX-License-Identifier: GPL-2.0
"""Start a scheduler or a worker, for the commands that take --cluster.

The boots of fuzz, test, seeded and bench, and check's compilations, run on many machines
(docs/dev/cluster.md). A scheduler runs whatever reaches its port; without certificates, it listens
only on this host.

  quire cluster scheduler                          prints its address
  quire cluster worker tcp://127.0.0.1:8786 -j 2   two virtual machines at once
  quire cluster scheduler --tls DIR --host 10.0.0.1
  quire cluster worker tls://10.0.0.1:8786 --tls DIR --host 10.0.0.2
"""

import argparse
import asyncio
from pathlib import Path

from quire.cluster import option
from quire.commands import Mode, options
from quire.session import Session

PORT = 8786
SCHEDULER = """Start a scheduler and print its address.

  quire cluster scheduler --tls DIR --host 10.0.0.1
"""
WORKER = """Start a worker, which runs -j virtual machines at once.

  quire cluster worker tcp://127.0.0.1:8786 -j 2
"""


def _add(part: argparse.ArgumentParser) -> None:
    add = part.add_argument
    add("--host", default="127.0.0.1", help="the address to listen on (default %(default)s)")
    text = "certificates: ca.pem, cert.pem and key.pem in DIR"
    add("--tls", type=Path, metavar="DIR", help=text)


def _add_scheduler(part: argparse.ArgumentParser) -> None:
    _add(part)
    text = "the port to listen on (default %(default)s; 0: any)"
    part.add_argument("--port", type=int, default=PORT, help=text)


def _add_worker(part: argparse.ArgumentParser) -> None:
    _add(part)
    add = part.add_argument
    add("address", help="the scheduler's")
    add("--name", help="the worker's name (default: its address)")
    options.jobs(part)


def _schedule(_: Session, arguments: argparse.Namespace) -> None:
    """Serve until interrupted."""
    option.require_engine()
    from quire.cluster import policy, worker  # noqa: PLC0415 -- only here

    policy.configure()
    host, port, tls = arguments.host, arguments.port, arguments.tls
    policy.require(f"{'tls' if tls else 'tcp'}://{host}:{port}", tls)
    asyncio.run(worker.schedule(host, port, tls))


def _work(session: Session, arguments: argparse.Namespace) -> None:
    """Serve until interrupted."""
    option.require_engine()
    from quire.cluster import policy, worker  # noqa: PLC0415 -- only here

    policy.configure()
    host, address, tls = arguments.host, arguments.address, arguments.tls
    policy.require(f"{'tls' if tls else 'tcp'}://{host}:{PORT}", tls)
    policy.require(address, tls)
    policy.connect(address, address, tls).close()
    directory = session.cache.root / "cluster" / (arguments.name or "worker")
    asyncio.run(worker.work(address, host, session.jobs, arguments.name, tls, directory))


MODES = (
    Mode("scheduler", SCHEDULER, _add_scheduler, _schedule),
    Mode("worker", WORKER, _add_worker, _work),
)

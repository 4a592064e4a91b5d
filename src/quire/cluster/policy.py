# SPDX-License-Identifier: GPL-2.0
"""Set a cluster's rules: who may connect, which code runs, how the engine is configured.

Without certificates (in the directory `tls`), a cluster uses only loopback.
"""

import functools
import logging
import re
import socket
from pathlib import Path
from typing import Any

import dask
from distributed import Client, Security

import quire
from quire.host.cache import digest
from quire.host.errors import UserError

# LOCAL is the address of our own workers.
LOCAL, LOOPBACK = "local", "127.0.0.1"
# In the directory of --tls: the CA, our certificate, our key.
FILES = ("ca.pem", "cert.pem", "key.pem")
# The engine's status page: on loopback, on any free port.
NO_PAGE = {"dashboard": False, "dashboard_address": f"{LOOPBACK}:0"}
# Seconds for a scheduler, and the first worker, to answer; then seconds after which a worker
# without a scheduler ends.
PATIENCE = 120.0
# The engine's exceptions if the other end is missing, or is not quire's.
GONE = (OSError, TimeoutError, RuntimeError, ValueError, ImportError, AttributeError)


def configure() -> None:
    """Apply the settings of every process of a cluster."""
    logging.getLogger("distributed").setLevel(logging.ERROR)
    dask.config.set(
        {
            # Hosts may be busy.
            "distributed.comm.timeouts.tcp": "120s",
            # A boot takes minutes, so moving it to another worker is worth copying the files.
            "distributed.scheduler.default-task-durations": {"run": "5m", "contents": "1ms"},
            # A job that kills its worker this often is at fault itself.
            "distributed.scheduler.allowed-failures": 5,
            # Kernels are sent as a whole.
            "distributed.admin.large-graph-warning-threshold": "1TiB",
        }
    )


@functools.cache
def version() -> str:
    """Return the version and a digest of quire's files, which must be equal in all processes."""
    root = Path(quire.__file__).parent
    files = sorted(path for path in root.rglob("*") if path.suffix in (".py", ".toml"))
    return f"{quire.__version__}-{digest([str(path.relative_to(root)) for path in files], *files)}"


def require(address: str, tls: Path | None) -> None:
    """Raise UserError for an invalid address, or for missing certificates."""
    scheme, _, rest = address.partition("://")
    host, _, port = rest.rpartition(":")
    if scheme not in ("tcp", "tls") or not host or not port.isdigit():
        remedy = "local, or tcp://127.0.0.1:PORT, or tls://HOST:PORT with --tls DIR"
        raise UserError(f"{address!r} is not a cluster's address", "", remedy)
    if (scheme == "tls") != bool(tls):
        needs = "no --tls" if tls else "--tls DIR"
        raise UserError(f"the address {address} needs {needs}", "", "change one of them")
    for file in [tls / name for name in FILES if tls and not (tls / name).is_file()]:
        raise UserError("a certificate is missing", str(file), "see docs/dev/cluster.md")
    if not tls and not re.fullmatch(r"localhost|127(\.\d+){3}|\[?::1]?", host):
        what = f"without certificates, a cluster is limited to this host, but {host} is not local"
        why = "any process that can reach a scheduler's port can run code there"
        raise UserError(what, why, f"--tls DIR with {', '.join(FILES)}, and an address tls://…")


def security(tls: Path | None) -> Any:
    """Return the engine's object, the same for every role; None without certificates."""
    if not tls:
        return None
    authority, *pair = (str(tls / name) for name in FILES)
    words = {"tls_ca_file": authority, "require_encryption": True}
    for role in ("client", "scheduler", "worker"):
        words[f"tls_{role}_cert"], words[f"tls_{role}_key"] = pair
    return Security(**words)


def connect(scheduler: Any, name: str, tls: Path | None) -> Client:
    """Connect to a scheduler. UserError if none answers, or if its version differs."""
    try:
        if scheduler == name:
            # The engine itself would retry forever.
            host, _, port = name.partition("://")[2].rpartition(":")
            socket.create_connection((host.strip("[]"), int(port)), PATIENCE).close()
        client = Client(scheduler, timeout=PATIENCE, security=security(tls), set_as_default=False)
        theirs = client.run_on_scheduler(version)
    except GONE as error:
        what, where = f"no quire scheduler answers at {name}", f"{type(error).__name__}: {error}"
        remedy = "start one: quire cluster scheduler; or use --cluster local"
        raise UserError(what, where[:300], remedy) from error
    if theirs != version():
        client.close(timeout=5)
        what = "this process and the scheduler run different versions of quire"
        remedy = "use the same checkout for scheduler, workers and client"
        raise UserError(what, f"here {version()}, at {name} {theirs}", remedy)
    return client

# SPDX-License-Identifier: GPL-2.0
"""Who may connect: processes of this host, or those with a certificate.

A scheduler runs whatever reaches its port. Without certificates, ours and its workers therefore
listen on loopback alone.
"""

from __future__ import annotations

import ipaddress
from dataclasses import dataclass
from pathlib import Path

from quire.host.errors import UserError

LOOPBACK = "127.0.0.1"
# In the directory of --tls: who signs, who we are, and our key.
CA, CERTIFICATE, KEY = "ca.pem", "cert.pem", "key.pem"


@dataclass(frozen=True)
class Security:
    """`tls` is the directory with the certificates, None for none."""

    tls: Path | None = None

    @property
    def scheme(self) -> str:
        """The protocol of addresses."""
        return "tls" if self.tls else "tcp"

    def require(self, host: str) -> None:
        """UserError for missing certificates, or a host that needs some."""
        if self.tls:
            missing = [name for name in (CA, CERTIFICATE, KEY) if not (self.tls / name).is_file()]
            if missing:
                raise UserError(
                    "certificates are missing",
                    f"{self.tls}: no {', '.join(missing)}",
                    "docs/cluster.md says how to make them",
                )
        elif not _is_loopback(host):
            raise UserError(
                f"without certificates, a cluster is on this host alone, and {host} is not",
                "whoever reaches a scheduler's port can run anything there",
                f"--tls DIR with {CA}, {CERTIFICATE} and {KEY}, and an address tls://…",
            )

    def require_address(self, address: str) -> None:
        """The same for an address; UserError also for one that is none."""
        scheme, separator, rest = address.partition("://")
        host, _, port = rest.rpartition(":")
        if not separator or scheme not in ("tcp", "tls") or not host or not port.isdigit():
            raise UserError(
                f"{address!r} is no address of a cluster",
                "",
                "local, or tcp://127.0.0.1:PORT, or tls://HOST:PORT with --tls DIR",
            )
        if scheme != self.scheme:
            raise UserError(
                f"the address {address} needs " + ("--tls DIR" if scheme == "tls" else "no --tls"),
                "",
                f"use {self.scheme}://, or change --tls",
            )
        self.require(host.strip("[]"))

    def arguments(self) -> dict[str, str]:
        """The engine's words for the three files: every role has the same."""
        if not self.tls:
            return {}
        found = {"tls_ca_file": str(self.tls / CA)}
        for role in ("client", "scheduler", "worker"):
            found[f"tls_{role}_cert"] = str(self.tls / CERTIFICATE)
            found[f"tls_{role}_key"] = str(self.tls / KEY)
        return found


def _is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False

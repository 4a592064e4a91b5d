# SPDX-License-Identifier: GPL-2.0
"""The comparison as JSON, with all inputs needed to reproduce its numbers."""

import platform
import shlex
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

import quire
from quire.host.cache import sha256
from quire.host.console import head
from quire.measure.bench import Provenance
from quire.measure.comparison import BenchmarkResult, Comparison, Figure
from quire.source import base as bases
from quire.source.side import Sides


def report(
    command: Sequence[str],
    sides: Sides,
    parts: Sequence[tuple[Comparison, Provenance]],
) -> dict[str, Any]:
    """Return a JSON-able report of one run of bench or demo."""
    series = sides.series
    return head("bench") | {
        "quire": quire.__version__,
        "command": shlex.join(command),
        "host": {"machine": platform.machine(), "python": platform.python_version()},
        "sides": {
            name: {"label": side.label, "about": side.about, **bases.as_json(side.origin)}
            for name, side in zip("ab", sides.both, strict=True)
        },
        "series": {
            "file": series.file.name,
            "versions": str(series.versions),
            "patches": [{"name": p.name, "sha256": sha256(p.path)} for p in series.patches],
        },
        "architectures": [_architecture(*part) for part in parts if part[0].arch.cpu is None],
        "further_cpus": [_further_cpu(*part) for part in parts if part[0].arch.cpu],
    }


def _further_cpu(comparison: Comparison, provenance: Provenance) -> dict[str, Any]:
    """An architecture's fields; further CPUs are in a separate list, which readers may ignore."""
    cpu = comparison.arch.cpu
    named = {"name": cpu.name, "qemu_model": cpu.model, "lacks": cpu.lacks} if cpu else {}
    return {"cpu": named, **_architecture(comparison, provenance)}


def _architecture(comparison: Comparison, provenance: Provenance) -> dict[str, Any]:
    kernel = provenance.b.kernel
    return {
        "name": comparison.arch.name,
        "compiler": kernel.toolchain.version,
        "qemu": str(provenance.b.plugin.qemu),
        "plugin_sha256": provenance.b.plugin.sha256,
        "guest_sha256": provenance.b.guest.sha256,
        "config": {
            "resolved_sha256": sha256(kernel.config),
            "fragments": [{"name": p.name, "sha256": sha256(p)} for p in provenance.fragments],
        },
        "images": {
            "a_sha256": provenance.a.kernel.image_sha256,
            "b_sha256": kernel.image_sha256,
        },
        "rows": [_row(row) for row in comparison.rows],
    }


def _row(row: BenchmarkResult) -> dict[str, Any]:
    return {
        "name": row.benchmark.title,
        "workload": row.benchmark.workload.name,
        "topic": row.benchmark.workload.topic,
        "parameters": dict(row.benchmark.parameters),
        "folio_kib": row.benchmark.size,
        "unit": row.benchmark.workload.unit,
        "a": figure(row.a),
        "b": figure(row.b),
        "ratio": row.ratio,
        "spread": row.spread,
        "unstable": row.unstable,
        "calls_beyond_a": [calls.what for calls in row.excess],
        "posted": row.posted.text if row.posted else "",
        **({"placement_alone": asdict(row.null)} if row.null else {}),
        "symbols": [
            {"name": line.symbol, "a": asdict(line.a), "b": asdict(line.b)} for line in row.symbols
        ],
    }


def figure(figure: Figure) -> dict[str, Any]:
    """One side of a benchmark."""
    return {
        "instructions_per_unit": figure.insns,
        "kernel_instructions_per_unit": figure.kernel,
        "own_instructions_per_unit": figure.own,
        "tlb_invalidations_per_unit": figure.tlb_total,
        "tlb_by_class_per_unit": figure.tlb,
        "tlb_invalidations_per_call": figure.tlb_per_op,
        **{key: value for key, value in asdict(figure).items() if key in _AS_THEY_ARE},
        **({"estimated_cycles": figure.cycles} if figure.cycles else {}),
    }


_AS_THEY_ARE = ("counters", "spans", "calls", "runs", "spread", "cost")

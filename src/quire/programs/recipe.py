# SPDX-License-Identifier: GPL-2.0
"""Whole programs as benchmarks: guest/programs/NAME.toml and the script NAME beside it.

In the guest, a recipe is a program of a user (`program bench`): it marks its measured part and
reports by lines, docs/dev/programs.md.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from quire.boot.machine import Disk
from quire.host import data, process
from quire.host.cache import digest
from quire.host.errors import UserError
from quire.kernels import kernel, user
from quire.kernels.guest import Guest
from quire.kernels.kernel import Kernel
from quire.measure import workloads
from quire.measure.workloads import Benchmark, Workload
from quire.programs import rootfs, stress
from quire.session import Session

# In the project's guest folder.
FOLDER = "programs"
REMEDY = "docs/dev/programs.md explains the keys"
# Parameters that the guest itself uses.
PATIENCE = "quire_timeout"


@dataclass(frozen=True)
class Recipe:
    """One program: its Debian packages, the topics it exercises, its limit in guest seconds."""

    packages: tuple[str, ...]
    topics: tuple[str, ...]
    workload: Workload
    seconds: int = 600
    # Preprocessed sources of side A's kernel, for a compiler.
    kernel_files: tuple[str, ...] = ()


def names(guest: Path) -> list[str]:
    """List the recipes."""
    return sorted(file.stem for file in (guest / FOLDER).glob("*.toml") if file.stem != stress.NAME)


def read(guest: Path, name: str) -> Recipe:
    """Read a recipe. UserError for an unknown one, or for an invalid file."""
    file = guest / FOLDER / f"{name}.toml"
    if name not in names(guest):
        raise UserError(f"no recipe {name!r}", remedy=f"choose from: {', '.join(names(guest))}")
    if not file.with_suffix("").is_file():
        raise UserError(f"the recipe {name} has no script", str(file.with_suffix("")), REMEDY)
    recipe = data.read(file, Recipe, REMEDY, lambda keys: _with_name(name, keys))
    own = replace(
        recipe.workload,
        program=user.path(file),
        kernel_parameters=(f"{PATIENCE}={recipe.seconds * 1000}",),
    )
    return replace(recipe, workload=own)


def _with_name(name: str, keys: dict[str, Any]) -> dict[str, Any]:
    return {**keys, "workload": workloads.fields(name, keys.get("workload", {}))}


def prepare(
    session: Session, recipe: Recipe, suite: str, kernels: Sequence[Kernel]
) -> tuple[Disk, list[Guest]]:
    """Build the image with the recipe's packages, and for each kernel the guest with its script."""
    first = kernels[0]
    image = rootfs.build(session, first, suite, recipe.packages)
    script = session.project.guest / FOLDER / recipe.workload.name
    files = {script.name: script.read_bytes()}
    files |= {Path(name).name: _preprocessed(session, first, name) for name in recipe.kernel_files}
    guests = [rootfs.with_scripts(session, kernel, files) for kernel in kernels]
    return Disk(image.file, identity=digest(image.versions)), guests


def _preprocessed(session: Session, of: Kernel, name: str) -> bytes:
    log = session.cache.log(f"preprocess-{of.tree.key}-{of.arch.name}")
    request = session.request(of.arch, of.tree)
    command = kernel.make_command(session.cache, request, name, log=log)
    if process.run(command).status:
        raise kernel.explain(f"{name} could not be preprocessed", command)
    return (of.objdir / name).read_bytes()


def benchmarks(recipe: Recipe, sizes: Sequence[int]) -> list[Benchmark]:
    """Return the recipe's benchmarks, of all its sizes or these."""
    return workloads.Catalogue((recipe.workload,)).benchmarks(sizes=sizes)

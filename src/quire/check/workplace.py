# SPDX-License-Identifier: GPL-2.0
"""Compile a configuration in one tree that changes from each selection of patches to the next, with
an O= directory that is configured once.
"""

import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from quire.check.configuration import Configuration
from quire.host import process
from quire.host.cache import Cache
from quire.kernels import kconfig, kernel
from quire.kernels.kernel import BUILDING
from quire.source import apply
from quire.source.series import Series
from quire.source.tree import OBJDIR_PREFIX, SOURCES

# Beside the tree: the files that any selection so far has changed.
CHANGED = "changed"
# In the O= directory: the key of its configuration.
KEY = ".quire-key"
# Marks that all directories a header can affect were compiled without a complaint. A file that
# has no object then is not part of the configuration.
WHOLE = ".quire-whole"
# Compiled for every series, in addition to the directories that it touches.
WIDE = ("mm/", "fs/proc/")
NOT_COMPILED = ("tools", "samples", "Documentation")


@dataclass(frozen=True)
class Workplace:
    """An entry of the cache for a configuration and the sources of a base; `jobs` as make's -j."""

    cache: Cache
    base: Path
    entry: Path
    configuration: Configuration
    jobs: int

    @property
    def tree(self) -> Path:
        """The sources; files that no selection has changed are hard links to the base's."""
        return self.entry / SOURCES

    @property
    def objects(self) -> Path:
        """The O= directory, directly inside the tree."""
        return self.tree / f"{OBJDIR_PREFIX}{self.configuration.name}"

    def change(self, series: Series | None) -> None:
        """Make the tree the base plus the patches of the series, or the base for None.

        Only files whose contents differ are written, so that make recompiles only their dependents.
        UserError names the patch and hunk that do not apply; the tree is then unchanged.
        """
        note = self.entry / CHANGED
        before = note.read_text().splitlines() if note.is_file() else []
        names = sorted({*before, *(apply.touched(series) if series else ())})
        # Before the tree changes: the next selection resets these files.
        note.write_text("".join(f"{name}\n" for name in names))
        apply.set_patches(self.tree, self.base, series.patches if series else (), names)

    def configure(self) -> None:
        """Configure the O= directory unless it already has this configuration.

        BuildFailed when kbuild fails or drops a requested option.
        """
        configuration, objects = self.configuration, self.objects
        note, key = objects / KEY, configuration.key()
        if note.is_file() and note.read_text() == key and not (objects / BUILDING).exists():
            return
        # The configuration differs, or quire was killed and an object may be incomplete.
        shutil.rmtree(objects, ignore_errors=True)
        objects.mkdir()
        log = self.cache.log(f"architectures-{configuration.name}-config")
        first, last = (self._make(name, log=log) for name in (configuration.base, "olddefconfig"))
        merge = kernel.merge_command(self.tree, objects.name, configuration.fragments, log)
        for command in (first, merge, last):
            kernel.compile(command, f"{configuration.name} cannot be configured")
        kconfig.require(configuration.fragments, objects / ".config")
        note.write_text(key)

    def compile(self, targets: Sequence[str], log: Path) -> int:
        """Make `targets` with -k; return make's status. BuildFailed when the disk is full."""
        if not targets:
            return 0
        mark, whole = self.objects / BUILDING, self.objects / WHOLE
        command = self._make("-k", *targets, log=log)
        mark.write_text("")
        try:
            status = process.run(command).status
        finally:
            # Even after an error, make has exited and removed its incomplete targets.
            mark.unlink(missing_ok=True)
        if status:
            whole.unlink(missing_ok=True)
        elif any(target.endswith("/") for target in targets):
            whole.write_text("")
        if status and "No space left on device" in log.read_text(errors="replace"):
            # A full disk truncates files that make considers complete.
            shutil.rmtree(self.objects, ignore_errors=True)
            raise kernel.explain(f"{self.configuration.name} did not compile", command)
        return status

    def _make(self, *words: str, log: Path) -> process.Command:
        prefix = self.configuration.compiler.cross_compile
        argv = ["make", f"-j{self.jobs}", f"ARCH={self.configuration.arch}"]
        argv += [f"CROSS_COMPILE={prefix}"] if prefix else []
        argv += [f"O={self.objects.name}", "LOCALVERSION=", *words]
        return process.Command(argv, cwd=self.tree, env=kernel.REPRODUCIBLE, log=log)

    def targets(self, series: Series, *, narrow: bool = False) -> list[str]:
        """Return the targets that compile everything the patches touch or affect through a header.

        `narrow`: only the objects of touched files, if it is known which the configuration has.
        """
        if self.configuration.targets:
            return list(self.configuration.targets)
        srcarch = self.configuration.compiler.srcarch
        files = dict.fromkeys(name for patch in series.patches for name in patch.files())
        left_out = tuple(f"{name}/" for name in NOT_COMPILED)
        sources = [
            name
            for name in files
            if name.endswith((".c", ".S"))
            and (not name.startswith("arch/") or name.startswith(f"arch/{srcarch}/"))
            and not name.startswith(left_out)
        ]
        objects = [str(Path(name).with_suffix(".o")) for name in sources]
        if narrow and (self.objects / WHOLE).is_file():
            return [name for name in objects if (self.objects / name).is_file()]
        # Compiling all of lib/ would take too long.
        directories = [f"{Path(name).parent}/" for name in objects if not name.startswith("lib/")]
        single = [name for name in objects if name.startswith("lib/")]
        return list(dict.fromkeys([*WIDE, f"arch/{srcarch}/mm/", *directories, *single]))

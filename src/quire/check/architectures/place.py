# SPDX-License-Identifier: GPL-2.0
"""A configuration's O= directory: configured once, compiled again for each selection."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from quire.build import kconfig, kernel
from quire.build.kernel import BUILDING
from quire.check.architectures.configuration import Configuration
from quire.host import process
from quire.host.cache import Cache
from quire.source.series import Series
from quire.source.tree import OBJDIR_PREFIX

# Holds the key of the configuration in this directory.
KEY = ".quire-key"
# Marks that all directories a header can affect were compiled without a complaint. A file that
# has no object then is not part of the configuration.
WHOLE = ".quire-whole"
# Compiled for every series, in addition to the directories that it touches.
WIDE = ("mm/", "fs/proc/")
NOT_COMPILED = ("tools", "samples", "Documentation")


@dataclass(frozen=True)
class Place:
    """The place to compile `configuration`: directly inside the tree; `jobs` as make's -j."""

    cache: Cache
    tree: Path
    configuration: Configuration
    jobs: int

    @property
    def objdir(self) -> Path:
        """The O= directory."""
        return self.tree / f"{OBJDIR_PREFIX}{self.configuration.name}"

    def configure(self) -> None:
        """Configure the directory unless it already has this configuration.

        BuildFailed when kbuild fails or drops a requested option.
        """
        configuration, objdir, key = self.configuration, self.objdir, self.configuration.key()
        note = objdir / KEY
        if note.is_file() and note.read_text() == key and not (objdir / BUILDING).exists():
            return
        # Another configuration, or quire was killed and an object may be incomplete.
        log = self.cache.log(f"architectures-{configuration.name}-config")
        process.do(shutil.rmtree, objdir, ignore_errors=True)
        process.do(objdir.mkdir)
        merge = ["scripts/kconfig/merge_config.sh", "-m", "-O", objdir.name]
        merge += [f"{objdir.name}/.config", *(str(f.resolve()) for f in configuration.fragments)]
        for command in (
            self.make(configuration.base, log=log),
            process.Command(merge, cwd=self.tree, log=log),
            self.make("olddefconfig", log=log),
        ):
            if process.run(command).status:
                what = f"{configuration.name} cannot be configured"
                raise kernel.explain(what, log, command)
        process.do(kconfig.require, configuration.fragments, objdir / ".config")
        process.do(note.write_text, key)

    def compile(self, targets: Sequence[str], log: Path) -> int:
        """Make `targets` with -k; return make's status.

        BuildFailed when the disk is full.
        """
        if not targets:
            return 0
        mark, whole = self.objdir / BUILDING, self.objdir / WHOLE
        command = self.make("-k", *targets, log=log)
        process.do(mark.write_text, "")
        try:
            status = process.run(command).status
        finally:
            # Even after an error, make has exited and removed its incomplete targets.
            process.do(mark.unlink, missing_ok=True)
        if status:
            whole.unlink(missing_ok=True)
        elif any(target.endswith("/") for target in targets):
            process.do(whole.write_text, "")
        if status and "No space left on device" in log.read_text(errors="replace"):
            # A full disk truncates files that make considers complete.
            shutil.rmtree(self.objdir, ignore_errors=True)
            raise kernel.explain(f"{self.configuration.name} did not compile", log, command)
        return status

    def make(self, *words: str, log: Path) -> process.Command:
        """The kbuild command, as typed by hand."""
        compiler = self.configuration.compiler
        argv = ["make", f"-j{self.jobs}", f"ARCH={self.configuration.arch}"]
        if compiler.cross_compile:
            argv.append(f"CROSS_COMPILE={compiler.cross_compile}")
        argv += [f"O={self.objdir.name}", "LOCALVERSION=", *words]
        return process.Command(argv, cwd=self.tree, env=kernel.REPRODUCIBLE, log=log)

    def targets(self, series: Series, *, narrow: bool = False) -> list[str]:
        """The targets that compile everything the patches touch or affect through a header.

        `narrow`: only the objects of touched files, if it is known which the configuration has.
        """
        if self.configuration.targets:
            return list(self.configuration.targets)
        srcarch = self.configuration.compiler.srcarch
        files = dict.fromkeys(name for patch in series.patches for name in patch.files())
        sources = [name for name in files if name.endswith((".c", ".S")) and _is_for(srcarch, name)]
        objects = [str(Path(name).with_suffix(".o")) for name in sources]
        if narrow and (self.objdir / WHOLE).is_file():
            return [name for name in objects if (self.objdir / name).is_file()]
        # Compiling all of lib/ would take too long.
        directories = [f"{Path(name).parent}/" for name in objects if not name.startswith("lib/")]
        single = [name for name in objects if name.startswith("lib/")]
        return list(dict.fromkeys([*WIDE, f"arch/{srcarch}/mm/", *directories, *single]))


def _is_for(srcarch: str, name: str) -> bool:
    top, _, rest = name.partition("/")
    return rest.startswith(f"{srcarch}/") if top == "arch" else top not in NOT_COMPILED

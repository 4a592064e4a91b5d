# SPDX-License-Identifier: GPL-2.0
"""A configuration's O= directory: configured once, then made again for each selection."""

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

# What the directory was configured from.
KEY = ".quire-key"
# All directories that a header reaches were compiled without a complaint: what has no object now
# is not part of the configuration.
WHOLE = ".quire-whole"
# What is compiled of every series, beside the places that it touches.
WIDE = ("mm/", "fs/proc/")
NOT_COMPILED = ("tools", "samples", "Documentation")


@dataclass(frozen=True)
class Place:
    """Where `configuration` is compiled, directly inside the tree; `jobs` as make's -j."""

    cache: Cache
    tree: Path
    configuration: Configuration
    jobs: int

    @property
    def objdir(self) -> Path:
        """The O= directory."""
        return self.tree / f"{OBJDIR_PREFIX}{self.configuration.name}"

    def configure(self) -> None:
        """Have a directory with that configuration.

        BuildFailed when kbuild refuses or an option does not survive.
        """
        configuration, objdir, key = self.configuration, self.objdir, self.configuration.key()
        note = objdir / KEY
        if note.is_file() and note.read_text() == key and not (objdir / BUILDING).exists():
            return
        # Another configuration, or quire was killed outright and some object is half-written.
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
        """Make `targets`, going on after an error; make's status.

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
            # However make ended, it was told, and removed what it was making.
            process.do(mark.unlink, missing_ok=True)
        if status:
            whole.unlink(missing_ok=True)
        elif any(target.endswith("/") for target in targets):
            process.do(whole.write_text, "")
        if status and "No space left on device" in log.read_text(errors="replace"):
            # A full disk truncates files that make believes it has made.
            shutil.rmtree(self.objdir, ignore_errors=True)
            raise kernel.explain(f"{self.configuration.name} did not compile", log, command)
        return status

    def make(self, *words: str, log: Path) -> process.Command:
        """kbuild, as one would call it by hand."""
        compiler = self.configuration.compiler
        argv = ["make", f"-j{self.jobs}", f"ARCH={self.configuration.arch}"]
        if compiler.cross_compile:
            argv.append(f"CROSS_COMPILE={compiler.cross_compile}")
        argv += [f"O={self.objdir.name}", "LOCALVERSION=", *words]
        return process.Command(argv, cwd=self.tree, env=kernel.REPRODUCIBLE, log=log)

    def targets(self, series: Series, *, narrow: bool = False) -> list[str]:
        """What to make so that everything the patches touch is compiled, and what a header reaches.

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
        # All of lib/ would be too much.
        directories = [f"{Path(name).parent}/" for name in objects if not name.startswith("lib/")]
        single = [name for name in objects if name.startswith("lib/")]
        return list(dict.fromkeys([*WIDE, f"arch/{srcarch}/mm/", *directories, *single]))


def _is_for(srcarch: str, name: str) -> bool:
    top, _, rest = name.partition("/")
    return rest.startswith(f"{srcarch}/") if top == "arch" else top not in NOT_COMPILED

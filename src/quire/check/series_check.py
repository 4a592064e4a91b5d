# SPDX-License-Identifier: GPL-2.0
"""Check a series before posting: style, fuzz, builds after every patch, all bases."""

import re
import shutil
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from quire.host import process
from quire.host.cache import Cache, digest
from quire.host.errors import QuireError, UserError
from quire.kernels import kernel
from quire.kernels.kernel import Request
from quire.source import apply, base, debian, posting, version
from quire.source import series as series_files
from quire.source.debian import Offer
from quire.source.line import Line
from quire.source.patch import Patch
from quire.source.series import Series
from quire.source.tree import Tree, copy_links

# Our options, in a root file with the name that kernel developers expect.
CHECKPATCH_CONF = ".checkpatch.conf"


@dataclass(frozen=True)
class Check:
    """One check of one subject; `trouble` is empty if the check passes."""

    check: str
    subject: str
    trouble: str = ""


def style(tree: Path, root: Path, patches: Iterable[Patch]) -> Iterator[Check]:
    """Run the base's checkpatch --strict on each patch."""
    conf = root / CHECKPATCH_CONF
    options = conf.read_text().split() if conf.is_file() else []
    for patch in patches:
        argv = ["perl", "scripts/checkpatch.pl", "--strict", "--terse", "--show-types"]
        argv += ["--no-summary", *options, str(patch.path.resolve())]
        # The tree is not a repository; without this checkpatch would find ours.
        env = {"GIT_CEILING_DIRECTORIES": str(tree.resolve().parent)}
        finished = process.run(process.Command(argv, cwd=tree, env=env))
        complaints = [
            line.rpartition(f"{patch.path.name}:")[2]
            for line in finished.output.splitlines()
            if re.search(r": (ERROR|WARNING|CHECK):", line)
        ]
        if finished.status and not complaints:
            complaints = [finished.output.strip()[-500:]]
        yield Check("checkpatch --strict", patch.name, "\n".join(complaints))


def listed(series: Series) -> Iterator[Check]:
    """Check that some series file lists every patch file in the series' folder."""
    names = {p.name for s in series_files.variants(series.file.parent) for p in s.patches}
    for path in sorted(series.file.parent.rglob("*.patch")):
        name = str(path.relative_to(series.file.parent))
        if name not in names and not path.name.startswith("0000-"):
            yield Check("listed in series", name, "no series file names it")


def applies(tree: Path, series: Series) -> Iterator[Check]:
    """Check that each patch applies without fuzz on its predecessors, each topic alone with its
    needs, and the rest of the series without each topic, which must also be revertible."""
    with apply.copies(tree, apply.touched(series)) as whole:
        trouble = ""
        for patch in series.patches:
            trouble = _text(apply.trouble(whole, [patch]))
            yield Check("applies without fuzz (all)", patch.name, trouble)
            if trouble:
                break
        yield from alone(tree, series)
        if not series.chosen:
            yield from _without(tree, series, None if trouble else whole)


def alone(tree: Path, series: Series) -> Iterator[Check]:
    """Check that each topic and group applies without fuzz to the base with what it needs."""
    parts = series.alone()
    for topic in list(parts):
        for group, names in posting.groups_of(series, topic).items():
            parts[f"{topic}-{group.name}"] = series.parts(names)
    for name, selection in parts.items():
        yield Check("applies alone", name, _text(apply.refusal(tree, selection)))


def _without(tree: Path, series: Series, whole: Path | None) -> Iterator[Check]:
    """Check that the series applies without each topic, except patches that others need, and that
    the topic can be reverted from `whole`, the newest patch first, with the same result."""
    names = apply.touched(series)
    for topic, rest in series.without().items():
        with apply.copies(tree, names) as other:
            trouble = _text(apply.trouble(other, rest.patches))
            yield Check("applies without", topic, trouble)
            if whole:
                kept = None if trouble else other
                yield Check("reverts", topic, _reverting(series, rest, whole, kept))


def _reverting(series: Series, rest: Series, whole: Path, other: Path | None) -> str:
    """Why `rest` of the series does not remain when the others are reverted; empty if it does.
    Without `other`, a tree of `rest`, nothing is compared."""
    names = apply.touched(series)
    taken = [patch for patch in reversed(series.patches) if patch not in rest.patches]
    with apply.copies(whole, names) as scratch:
        trouble = _text(apply.trouble(scratch, taken, apply.revert_patch))
        if trouble or not other:
            return trouble
        same = (apply.read_file(scratch / n) == apply.read_file(other / n) for n in names)
        return "" if all(same) else "the result differs from the series without it"


def lab_patches(tree: Path, line: Line, series: Series) -> Iterator[Check]:
    """Check that the line's lab patches apply without fuzz on top of the series and, except for
    seeded bugs, to the base."""
    extras = {file: series_files.read(file) for file in sorted(line.folder.rglob("series"))}
    names = {name for each in (series, *extras.values()) for name in apply.touched(each)}
    with apply.copies(tree, names) as behind:
        if apply.trouble(behind, series.patches):
            return  # applies() has told
        for file, extra in extras.items():
            bugs = file.is_relative_to(line.seeded)
            places = {"series": behind} if bugs else {"base": tree, "series": behind}
            for where, place in places.items():
                trouble = _text(apply.refusal(place, extra))
                yield Check(f"applies to the {where}", f"{file.relative_to(line.folder)}", trouble)


def builds(cache: Cache, requests: Sequence[Request], series: Series) -> Iterator[Check]:
    """Check that everything a patch can affect builds without a warning, after each patch.

    The last step is the complete patched kernel, which is built elsewhere. `requests` are for the
    stock trees, which are already built.
    """
    if not series.patches:
        return
    work = cache.root / "check"
    shutil.rmtree(work, ignore_errors=True)
    try:
        copy_links(requests[0].tree.path, work / "linux")
        tree = Tree("check", requests[0].tree.base, series, work / "linux")
        for patch in series.patches:
            apply.apply_patch(tree.path, patch)
            for request in requests:
                yield _build_step(cache, replace(request, tree=tree), patch)
    finally:
        shutil.rmtree(work, ignore_errors=True)


def _build_step(cache: Cache, request: Request, patch: Patch) -> Check:
    kernel.configure(cache, request)
    log = cache.log(f"check-{request.arch.name}-{patch.path.stem}")
    finished = process.run(kernel.make_command(cache, request, *_targets(patch), log=log))
    text = log.read_text(errors="replace") if log.exists() else ""
    noise = re.findall(r"^.*\b(?:warning|error): .*$", text, re.M)
    trouble = "\n".join(noise[:5])
    if finished.status and not trouble:
        trouble = process.tail(log, 3)
    if trouble:
        trouble += f"\nwhole log: {log}"
    return Check(f"builds ({request.arch.name})", patch.name, trouble)


def _targets(patch: Patch) -> list[str]:
    """Directories of the touched files; for a header, also those that include mm's headers."""
    targets = ["mm/"]
    for file in patch.files():
        top = file.partition("/")[0]
        if file.endswith(".h") and top in ("include", "arch"):
            targets += ["fs/", "kernel/"]
        elif file.endswith((".c", ".S")) and top not in ("tools", "samples"):
            targets.append(f"{Path(file).parent}/")
    return list(dict.fromkeys(targets))


def on_base(cache: Cache, folder: Path, offer: Offer) -> Check:
    """Check that the series in `folder` for this version of Debian's source applies to it."""
    check, subject = "applies to", f"{offer.package} {offer.version}"
    try:
        tree = _sources(cache, folder, offer)
        series = series_files.select(folder, version.of_tree(tree))
        if refused := apply.refusal(tree, series):
            raise refused
    except QuireError as error:
        return Check(check, subject, f"{error.what}\n{error.where}")
    return Check(check, f"{subject} ({series.file.name}, {len(series.patches)} patches)")


def _sources(cache: Cache, folder: Path, offer: Offer) -> Path:
    """One version of the source, reduced to the files that any variant of the series touches."""
    line = offer.package.removeprefix("linux-source-")
    # version.of_tree needs these files to recognise a kernel tree.
    makefiles = {"Makefile", "Kbuild", "mm/Makefile", "arch/Kconfig"}
    names = sorted(makefiles.union(*map(apply.touched, series_files.variants(folder))))

    def build(directory: Path) -> None:
        package, _ = debian.fetch(offer, directory)
        debian.unpack(package, line, directory / "linux", names)
        package.unlink()

    return cache.make("source", f"{base.safe(offer.version)}-{digest(names)}", build) / "linux"


def _text(error: UserError | None) -> str:
    return f"{error.what}: {error.where}" if error else ""

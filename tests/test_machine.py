# SPDX-License-Identifier: GPL-2.0
"""Real boots of kernels that `make test` built: how a lost guest is reported, what is reclaimed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from conftest import ROOT, gone

from quire import cli
from quire.arch import ARCHITECTURES, Architecture
from quire.boot import launch, machine, start
from quire.boot.launch import HERE
from quire.boot.machine import Counting, Machine
from quire.fuzz import runner
from quire.fuzz.generate import generator
from quire.fuzz.runner import Target
from quire.host import process
from quire.host.errors import GuestLost
from quire.kernels import guest, kernel
from quire.kernels.guest import Guest
from quire.kernels.kernel import Kernel
from quire.session import Session
from quire.source import side
from quire.source.side import Sides
from quire.source.tree import Tree

pytestmark = pytest.mark.kernel

WORDS = os.environ.get("QUIRE_TEST_WORDS", "").split()

INIT = r"""
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[argc - 1] : "";

	printf("init: %s\n", what);
	fflush(stdout);
	while (!strcmp(what, "hang"))
		pause();
	return 3;	/* init must not end: the kernel panics */
}
"""


@pytest.fixture(scope="session")
def session() -> Session:
    """A session as from the command line; the bases and kernels must exist."""
    words, variables = cli.kbuild_words(["build", "--quiet", *WORDS])
    return cli.make_session(cli.parser().parse_args(words), variables)


@pytest.fixture(params=ARCHITECTURES)
def arch(request: pytest.FixtureRequest, session: Session) -> Architecture:
    """Each architecture under test."""
    found = ARCHITECTURES[request.param]
    if found not in session.architectures:
        pytest.skip("not under test")
    return found


@pytest.fixture
def both(session: Session) -> Sides:
    """The base with the fixes alone, and with the whole series."""
    if not list(session.cache.root.glob("base/*/base.json")):
        pytest.skip("no kernel is built: make test")
    return side.fixed(session.cache, session.sides())


def kernel_if_built(session: Session, arch: Architecture, tree: Tree) -> Kernel:
    """Only `make test` builds one: a plain pytest run does not wait minutes."""
    if not (session.request(arch, tree).objdir / kernel.BUILT).exists():
        pytest.skip(f"the kernel {tree.label} is not built: make test")
    return session.kernel(arch, tree)


@pytest.fixture
def built(session: Session, arch: Architecture, both: Sides) -> Kernel:
    """The patched kernel."""
    return kernel_if_built(session, arch, both.b.tree)


@pytest.fixture
def misbehaving(built: Kernel, tmp_path: Path) -> Guest:
    """A guest whose init hangs or dies on request."""
    (tmp_path / "init.c").write_text(INIT)
    program = tmp_path / "init"
    compiler = f"{built.toolchain.cross_compile}gcc"
    process.check(
        process.Command([compiler, "-static", "-O2", "-o", str(program), str(tmp_path / "init.c")])
    )
    guest.pack(built, program, tmp_path / "guest.cpio")
    return Guest(built.arch, tmp_path / "guest.cpio", "")


def test_a_panic_is_told_with_its_stack(built: Kernel, misbehaving: Guest, tmp_path: Path) -> None:
    with pytest.raises(GuestLost) as caught:
        launch.boot(Machine(built, misbehaving, ("die",), timeout=120), HERE, tmp_path)
    assert "splat (panic)" in caught.value.what
    assert "Attempted to kill init! exitcode=0x00000300" in caught.value.where
    assert "do_exit" in caught.value.where
    assert f"whole log: {tmp_path}/console.log" in caught.value.where
    assert "init: die" in (tmp_path / "console.log").read_text()


def test_a_hang_is_ended(built: Kernel, misbehaving: Guest, tmp_path: Path) -> None:
    started = time.monotonic()
    with pytest.raises(GuestLost) as caught:
        launch.boot(Machine(built, misbehaving, ("hang",), timeout=8), HERE, tmp_path)
    assert time.monotonic() - started < 60
    assert "hung: not finished after 8 s" in caught.value.what
    assert "init: hang" in caught.value.where


def test_ctrl_c_ends_a_real_qemu(built: Kernel, misbehaving: Guest, tmp_path: Path) -> None:
    """A separate process boots a guest that hangs; SIGINT must also end QEMU."""
    boot = Machine(built, misbehaving, ("hang",), timeout=100)
    script = (
        "import sys; from quire.host.process import Command, run; "
        "sys.exit(run(Command(sys.argv[1:])).status)"
    )
    argv = [*start.command(boot, tmp_path), "-pidfile", str(tmp_path / "pid")]
    child = subprocess.Popen(
        [sys.executable, "-c", script, *argv],
        env={**os.environ, "PYTHONPATH": str(ROOT / "src")},
        stderr=subprocess.DEVNULL,
        stdin=subprocess.DEVNULL,
    )
    deadline = time.monotonic() + 60
    while not (tmp_path / "pid").exists() or not (tmp_path / "pid").read_text().strip():
        assert time.monotonic() < deadline
        time.sleep(0.05)
    pid = int((tmp_path / "pid").read_text())
    child.send_signal(signal.SIGINT)
    child.wait(timeout=60)
    assert gone(pid)


def test_the_guests_own_self_test(session: Session, built: Kernel, tmp_path: Path) -> None:
    """The guest's harness reports cases that fail, crash and hang as such."""
    program = guest.build(session.cache, session.project.guest, built, session.jobs)
    boot = Machine(built, program, ("test", "selftest.*"), timeout=300)
    outcome = launch.boot(boot, HERE, tmp_path)
    assert outcome.exit == 0, outcome.other


def test_two_boots_count_the_same(session: Session, built: Kernel) -> None:
    """The promise of `quire bench`, 0.1 % on every row, on the cheapest row."""
    from quire import lab  # noqa: PLC0415
    from quire.measure.bench import Sampling, measure  # noqa: PLC0415

    setup = lab.setup(session, built)
    (benchmark,) = lab.workloads(session).benchmarks(["mremap"], [64])
    samples = measure(
        session.cache, [setup], [benchmark], session.progress, Sampling(2, fresh=True)
    )
    totals = [sample.counts.total for sample in samples[built.image_sha256, benchmark]]
    assert len(totals) >= 2
    assert (max(totals) - min(totals)) / min(totals) <= 0.001


def test_a_row_with_a_thread_on_another_cpu(session: Session, built: Kernel) -> None:
    """`quire bench --smp 2`: the C library accepts the thread and its stack."""
    from quire import lab  # noqa: PLC0415
    from quire.measure.bench import Sampling, measure  # noqa: PLC0415
    from quire.measure.workloads import Catalogue  # noqa: PLC0415

    setup = lab.setup(session, built)
    (benchmark,) = Catalogue.on_cpus(lab.workloads(session).benchmarks(["mremap"], [64]), 2)
    samples = measure(
        session.cache, [setup], [benchmark], session.progress, Sampling(1, fresh=True)
    )
    assert all(sample.counts.total for sample in samples[built.image_sha256, benchmark])


def test_the_guest_names_the_page_tables(session: Session, built: Kernel, tmp_path: Path) -> None:
    """Moving a small page stores two words: one is cleared, one is set. It takes mmap_lock once."""
    from quire import lab  # noqa: PLC0415
    from quire.boot import counts  # noqa: PLC0415

    setup = lab.setup(session, built)
    boot = Machine(
        built,
        setup.guest,
        ("bench", "mremap", "size=4"),
        counting=Counting(
            setup.plugin,
            locks=("down_write_killable", "_raw_spin_lock"),
            stream=True,
            detail=True,
            watch=("down_write_killable", "move_page_tables"),
            lines=True,
        ),
    )
    outcome = launch.boot(boot, HERE, tmp_path)
    region = counts.read(tmp_path / machine.COUNTS)[0]
    assert region.events["table_words"] == 2 * outcome.regions[0].pages
    # A line has eight words; each page's is cleared in one line and set in another.
    assert region.events["lines_written"] > 2 * outcome.regions[0].pages // 8
    assert region.locks["__do_sys_mremap", "down_write_killable"] == region.runs
    ended = counts.read_stops(tmp_path / machine.STOPS)
    assert len(ended) == region.runs
    assert all(stop.counts["move_page_tables"] == 1 for stop in ended)
    assert all(stop.symbols["move_page_tables"].calls == 1 for stop in ended)


def test_the_same_folios_are_reclaimed_in_the_same_order(
    session: Session, arch: Architecture, both: Sides
) -> None:
    """The row's counter `order` is made of each page's swap slot; idle and half accessed folios."""
    from quire import lab  # noqa: PLC0415
    from quire.measure.bench import Sampling, measure  # noqa: PLC0415

    setups = [lab.setup(session, kernel_if_built(session, arch, a.tree)) for a in both.both]
    benchmarks = lab.workloads(session).benchmarks(["reclaim"], [64])
    samples = measure(session.cache, setups, benchmarks, session.progress, Sampling(1))
    orders = [
        [
            samples[setup.kernel.image_sha256, benchmark][0].results.counters["order"]
            for setup in setups
        ]
        for benchmark in benchmarks
    ]
    assert len(orders) == 5
    assert all(fixed == patched for fixed, patched in orders)
    assert len({fixed for fixed, _ in orders}) > 1, "the number does not depend on the order"


def test_a_record_does_not_depend_on_how_many_programs_run(
    session: Session, built: Kernel, tmp_path: Path
) -> None:
    """Or else no difference would ever repeat: what is suspicious runs again among few others."""
    program = guest.build(session.cache, session.project.guest, built, session.jobs)
    target = Target(built, program, tmp_path)
    programs = {number: generator.generate(number) for number in range(500)}
    alone = runner.run(target, {0: programs[0]})
    among = runner.run(target, programs, watch=lambda *_: True)
    assert not alone[0].trouble
    assert alone[0].plain == among[0].plain

# SPDX-License-Identifier: GPL-2.0
"""Boots on a cluster: a scheduler and workers as real processes, with fake and with real QEMU."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import textwrap
import time
import zlib
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest
from conftest import HANGS, ROOT, SOURCE, Quire, gone, line_patch, said
from known import bug
from test_architectures import TABLE

from quire.boot.launch import Ended
from quire.cluster import job, policy
from quire.cluster.job import File, RemoteJob, RemoteOutcome
from quire.host import errors, parallel
from quire.host.cache import sha256
from quire.host.errors import UserError

# Seconds. Only for a test that would never end: a busy host needs a minute to start Python.
PATIENCE = float(HANGS)


def wait_until(what: Callable[[], object], said: str) -> None:
    deadline = time.monotonic() + PATIENCE
    while not what():
        assert time.monotonic() < deadline, said
        time.sleep(0.05)


class Processes:
    """Processes of `quire cluster`, ended at the end of a test."""

    def __init__(self, quire: Quire, logs: Path) -> None:
        self.quire, self.logs = quire, logs
        self.children: dict[str, subprocess.Popen[str]] = {}
        self.address = ""

    def start(self, name: str, *words: str, **env: str) -> None:
        with (self.logs / name).open("w") as log:
            self.children[name] = subprocess.Popen(
                self.quire.command("cluster", *words),
                env=self.quire.env(**env),
                stdout=log,
                stderr=subprocess.STDOUT,
                stdin=subprocess.DEVNULL,
                text=True,
            )

    def scheduler(self, *words: str) -> str:
        self.start("scheduler", "scheduler", "--port", "0", *words)
        log = self.logs / "scheduler"
        wait_until(lambda: re.search(r"^t(cp|ls)://\S+\n", log.read_text(), re.M), "no scheduler")
        found = re.search(r"^t(cp|ls)://\S+", log.read_text(), re.M)
        assert found
        self.address = found[0]
        return self.address

    def worker(self, name: str, *words: str, **env: str) -> None:
        self.start(name, "worker", self.address, "--name", name, "-j1", *words, **env)
        log = self.logs / name
        wait_until(lambda: f"worker {name} of" in log.read_text(), f"no worker: {log.read_text()}")

    def workers(self, gate: Path) -> None:
        for name in ("one", "two"):
            self.worker(name, FAKE_GATE=str(gate))

    def stop(self) -> None:
        for child in self.children.values():
            child.kill()
            child.wait()


@pytest.fixture
def processes(quire: Quire, tmp_path: Path) -> Iterator[Processes]:
    logs = tmp_path / "cluster-logs"
    logs.mkdir()
    found = Processes(quire, logs)
    yield found
    found.stop()


def test_nothing_of_the_engine_is_imported_without_a_cluster() -> None:
    script = "import sys; from quire import commands\n"
    script += "for name in commands.NAMES: commands.load(name)\n"
    script += "sys.exit(bool({'dask', 'distributed', 'tornado'} & sys.modules.keys()))"
    done = subprocess.run([sys.executable, "-c", script], check=False, timeout=PATIENCE,
                          env={**os.environ, "PYTHONPATH": str(ROOT / "src")})  # fmt: skip
    assert done.returncode == 0


@pytest.mark.parametrize(
    ("address", "tls", "text"),
    [
        ("tcp://10.0.0.1:8786", False, "is limited to this host"),
        ("tcp://example.org:8786", False, "is limited to this host"),
        ("tls://127.0.0.1:8786", False, "needs --tls DIR"),
        ("tcp://127.0.0.1:8786", True, "needs no --tls"),
        ("tls://10.0.0.1:8786", True, "a certificate is missing"),
        ("127.0.0.1:8786", False, "is not a cluster's address"),
        ("tcp://127.0.0.1", False, "is not a cluster's address"),
        ("http://127.0.0.1:80", False, "is not a cluster's address"),
    ],
)
def test_addresses_that_are_refused(tmp_path: Path, address: str, tls: bool, text: str) -> None:
    with pytest.raises(UserError) as error:
        policy.require(address, tmp_path if tls else None)
    assert text in error.value.text()
    assert error.value.remedy


def test_loopback_needs_no_certificate() -> None:
    for address in ("tcp://127.0.0.1:1", "tcp://localhost:1", "tcp://[::1]:1"):
        policy.require(address, None)


def carried_out(what: RemoteJob, contents: dict[str, bytes], directory: Path) -> RemoteOutcome:
    (directory / "job").mkdir()
    env = {"BUILD": str(directory / "build"), "JOBS": "3"}
    return job.carry_out(what, contents, directory / "job", env, lambda: None)


def test_a_file_travels_by_what_it_begins_with(tmp_path: Path) -> None:
    known, whole, other = tmp_path / "known", tmp_path / "whole", tmp_path / "other"
    known.write_bytes(b"guest")
    whole.write_bytes(b"guestprograms")
    other.write_bytes(b"image")
    contents: dict[str, Path] = {}
    files = (job.sent("in/1", whole, contents, known), job.sent("in/2", other, contents, known))
    assert contents == {sha256(known): known, sha256(other): other}
    assert files[0] == File("in/1", sha256(known), zlib.compress(b"programs"))
    what = RemoteJob("job", ("cat", "in/1", "in/2"), (job.OUTPUTS[-1],), files=files)
    data = {sha: path.read_bytes() for sha, path in contents.items()}
    outcome = carried_out(what, data, tmp_path)
    assert outcome.text(job.OUTPUTS[-1], tmp_path).endswith("guestprogramsimage")


def test_a_file_that_has_changed_is_refused(tmp_path: Path) -> None:
    (tmp_path / "image").write_bytes(b"image")
    contents: dict[str, Path] = {}
    what = RemoteJob("job", ("true",), (), files=(job.sent("image", tmp_path / "image", contents),))
    with pytest.raises(UserError, match="checksum mismatch in transfer"):
        carried_out(what, dict.fromkeys(contents, b"imagf"), tmp_path)


def test_another_tool_is_refused(tmp_path: Path) -> None:
    what = RemoteJob("job", ("true",), (), ((("echo", "QEMU 8"), "QEMU 7"),))
    with pytest.raises(UserError, match="another version of echo") as error:
        carried_out(what, {}, tmp_path)
    assert "QEMU 8; the client has QEMU 7" in error.value.where


def test_outputs_come_back_as_they_were(tmp_path: Path) -> None:
    """Also the logs of the build directory that they name, and how the command ended."""
    script = "mkdir -p $BUILD/log; printf '\\377 %s' $JOBS >$BUILD/log/x; "
    script += f"echo whole log: $BUILD/log/x >{job.OUTPUTS[0]}; exit 3"
    outcome = carried_out(RemoteJob("job", ("sh", "-c", script), job.OUTPUTS), {}, tmp_path)
    assert outcome.ended == Ended(3)
    outcome.write(tmp_path / "here", outcome.files)
    assert (tmp_path / "here/log/x").read_bytes() == b"\xff 3"
    assert outcome.text(job.OUTPUTS[0], Path("/mine")) == "whole log: /mine/log/x\n"
    assert not (tmp_path / "here" / job.OUTPUTS[1]).exists()


@pytest.mark.parametrize("where", ["", "one\ntwo: x"])
@pytest.mark.parametrize("remedy", ["", "do it"])
def test_an_error_is_read_back(where: str, remedy: str) -> None:
    for kind in (errors.UserError, errors.BuildFailed, errors.GuestLost):
        error = kind("what", where, remedy)
        found = errors.read(kind.exit_code, f"[ 0:00] base\n{error.text()}\n")
        assert type(found) is kind
        assert found.text() == error.text()
    assert "Traceback" in errors.read(1, "Traceback: x").text()


@pytest.mark.parametrize("at_once", [0, 1, 2, 8])
def test_work_ahead_is_in_order_and_stops(at_once: int) -> None:
    begun = []

    def work(item: int) -> int:
        begun.append(item)
        return item * item

    found = list(parallel.ahead(range(20), work, at_once))
    assert found == [(item, item * item) for item in range(20)]
    begun.clear()
    for item, _ in (runs := parallel.ahead(range(100), work, at_once)):
        if item == 3:
            break
    runs.close()
    assert len(begun) <= 4 + 2 * at_once


def test_the_version_is_that_of_the_sources() -> None:
    assert re.fullmatch(r"\d+\.\d+-[0-9a-f]{12}", policy.version())


@pytest.mark.slow
def test_no_scheduler_answers(quire: Quire, tree: Path) -> None:
    words = ("--source", str(tree), "ARCH=arm64", "--cluster")
    done = quire("test", *words, "tcp://127.0.0.1:1")
    assert done.returncode == 2
    assert "no quire scheduler answers at tcp://127.0.0.1:1" in done.stderr
    assert "remedy: " in done.stderr
    assert "Traceback" not in done.stderr
    said(quire("test", *words, "tcp://10.1.2.3:8786"), 2, "without certificates")
    assert quire("cluster", "scheduler", "--host", "0.0.0.0").returncode == 2
    assert quire("cluster", "worker").returncode == 2


@pytest.mark.slow
def test_a_local_cluster_gives_the_same(quire: Quire, tree: Path, tmp_path: Path) -> None:
    """Byte for byte, for each command, and with an error's status."""
    folder = quire.project / "lines/6.12/seeded"
    folder.mkdir()
    (folder / "bugs.toml").write_text(bug("lost", "fake.bad"))
    (folder / "series").write_text("bug.patch\n")
    (folder / "bug.patch").write_text(line_patch("a bug", 14, "bug 14"))
    runs: list[tuple[tuple[str, ...], dict[str, str]]] = [
        (("test", "--json"), {"FAKE_QEMU": "wrong"}),
        (("test", "--json"), {"FAKE_QEMU": "panic"}),
        (("seeded", "--json"), {}),
        (("bench", "mremap", "--size", "64", "--fresh", "--output", str(tmp_path / "out")), {}),
        (("steps", "mremap", "--size", "64"), {}),
        (("fuzz", "compare", "--no-coverage", "--programs", "1200"), {}),
        # Each finding is shrunk, in many boots.
        (
            ("fuzz", "compare", "--no-coverage", "--programs", "60", "--findings", "0"),
            {"FAKE_QEMU": "differ"},
        ),
    ]
    for words, env in runs:
        command = (*words, "--source", str(tree), "ARCH=arm64", "-q")
        here = quire(*command, **env)
        # A cell that was counted before would be counted once more, and its spread be told.
        shutil.rmtree(quire.build / "cell", ignore_errors=True)
        there = quire(*command, "--cluster", "local", "-j2", **env)
        assert there.returncode == here.returncode, there.stderr
        same = re.compile(r"in \d+ s, \d+ a minute")
        assert same.sub("", there.stdout) == same.sub("", here.stdout)


@pytest.mark.slow
def test_checks_that_compile_give_the_same(quire: Quire, tree: Path, tmp_path: Path) -> None:
    """Each in its jobs, with the logs of what failed in the same place."""
    directory = quire.project / "configs/architectures"
    directory.mkdir()
    (directory / "table.toml").write_text(textwrap.dedent(TABLE))
    (directory / "all.config").write_text("CONFIG_FAKE=y\n")
    for prefix in ("riscv64-linux-gnu-", "arm-linux-gnueabihf-"):
        (quire.bin / f"{prefix}gcc").symlink_to(quire.bin / "gcc")
    mailbox, other = tmp_path / "given.mbox", tmp_path / "other"
    mailbox.write_text(line_patch("mm: give", 20, "run 20"))
    shutil.copytree(tree, other)
    (other / "mm/mremap.c").write_text(SOURCE.replace("line 20\n", "run 20\n"))
    ours = ("--source", str(tree))
    for words, env, status in (
        ((*ours, "--architectures"), {"FAKE_WARN": "riscv:run 8"}, 1),
        (ours, {"FAKE_WARN": "arm64:run 20"}, 1),
        ((*ours, "--series", str(mailbox)), {"FAKE_WARN": "arm64:run 20"}, 1),
        (("--a", str(tree), "--b", str(other), "ARCH=arm64"), {"FAKE_WARN": "arm64:run 20"}, 1),
        # Of two architectures that fail, either may be the first to be told of.
        ((*ours, "ARCH=arm64"), {"FAKE_MAKE": "fail"}, 3),
    ):
        # Nothing is known of an earlier run: what was clean is not compiled again.
        shutil.rmtree(quire.build, ignore_errors=True)
        command = ("check", "-q", "--json", *words)
        here = quire(*command, **env)
        assert here.returncode == status, here.stderr
        logs = {path.name: path.read_text() for path in quire.build.glob("log/*.log")}
        shutil.rmtree(quire.build / "log")
        there = quire(*command, "--cluster", "local", "-j2", **env)
        assert (there.returncode, there.stdout) == (status, here.stdout), there.stderr
        named = re.findall(r"whole log: ([^\s\"\\]+)", here.stdout + there.stderr)
        assert named
        for path in map(Path, named):
            assert "error: " in path.read_text()
            assert path.name in logs


@pytest.mark.slow
def test_the_workers_are_the_processes_of_two_machines(
    quire: Quire, tree: Path, processes: Processes
) -> None:
    """One job on a scheduler and a worker of our own, and no port that others can reach."""
    address = processes.scheduler()
    processes.worker("one")
    done = quire.passes("test", "--source", str(tree), "ARCH=arm64", "--cluster", address)
    assert "done by worker: one" in done.stderr
    assert listening([child.pid for child in processes.children.values()]) == {"0100007F"}


BENCH = ("bench", "mremap", "munmap", "--size", "64", "--fresh", "--json", "ARCH=arm64")


def boots(gate: Path) -> dict[int, int]:
    """The boots that have begun, and the worker of each, by process."""
    begun = (path for path in gate.parent.glob(f"{gate.name}.*") if path.read_text())
    return {int(path.suffix[1:]): int(path.read_text()) for path in begun}


def wait_for_boots(gate: Path, number: int, *clients: subprocess.Popen[str]) -> None:
    def ready() -> bool:
        for one in clients:
            assert one.poll() is None, one.communicate()
        return len(boots(gate)) == number

    wait_until(ready, "too few boots")


@pytest.mark.slow
def test_a_killed_worker_loses_nothing(
    quire: Quire, tree: Path, processes: Processes, tmp_path: Path
) -> None:
    """Its boots run again on the other one, and the document is that of a run without a cluster."""
    words = (*BENCH, "--source", str(tree))
    here = quire.passes(*words)
    shutil.rmtree(quire.build / "cell")
    gate = tmp_path / "gate"
    processes.scheduler()
    processes.workers(gate)
    one = processes.children["one"].pid
    run = quire.start(*words, "--cluster", processes.address)
    wait_for_boots(gate, 2, run)
    (lost,) = (boot for boot, worker in boots(gate).items() if worker == one)
    processes.children["one"].kill()
    wait_until(lambda: gone(lost), "the killed worker left its QEMU")
    gate.write_text("")
    out, errors = run.communicate(timeout=PATIENCE)
    assert run.returncode == 0, errors
    there, expected = json.loads(out), json.loads(here.stdout)
    assert "--cluster" in there.pop("command")
    assert "--cluster" not in expected.pop("command")
    assert there == expected
    # Four boots, and the one that was lost again; each counted once.
    assert len(boots(gate)) == 5
    assert len(list(quire.build.glob("cell/*/run-*"))) == 4


@pytest.mark.slow
def test_ctrl_c_ends_its_own_boots_and_no_others(
    tree: Path, processes: Processes, tmp_path: Path
) -> None:
    gate = tmp_path / "gate"
    processes.scheduler()
    processes.workers(gate)
    words = ("test", "--source", str(tree), "ARCH=arm64", "--cluster", processes.address)
    others = processes.quire.start(*words)
    wait_for_boots(gate, 1, others)
    (kept,) = boots(gate)
    mine = processes.quire.start(*words)
    wait_for_boots(gate, 2, mine)
    (ended,) = boots(gate).keys() - {kept}
    mine.send_signal(signal.SIGINT)
    _, errors = mine.communicate(timeout=PATIENCE)
    assert mine.returncode == 130
    assert "Traceback" not in errors
    wait_until(lambda: gone(ended), "QEMU was left behind")
    assert not gone(kept)
    gate.write_text("")
    _, errors = others.communicate(timeout=PATIENCE)
    assert others.returncode == 0, errors
    assert all(child.poll() is None for child in processes.children.values())


@pytest.mark.slow
def test_ctrl_c_ends_workers_of_our_own(quire: Quire, tree: Path, tmp_path: Path) -> None:
    gate = tmp_path / "gate"
    words = ("test", "--source", str(tree), "ARCH=arm64", "--cluster", "local", "-j2")
    run = quire.start(*words, FAKE_GATE=str(gate))
    wait_for_boots(gate, 1, run)
    (boot,) = boots(gate)
    run.send_signal(signal.SIGINT)
    _, errors = run.communicate(timeout=PATIENCE)
    assert run.returncode == 130
    assert "Traceback" not in errors
    assert gone(boot)


def listening(pids: Sequence[int]) -> set[str]:
    """The local addresses of the processes' listening sockets, as /proc has them."""
    links = [link for pid in pids for link in Path(f"/proc/{pid}/fd").iterdir()]
    targets = [re.fullmatch(r"socket:\[(\d+)\]", str(link.readlink())) for link in links]
    inodes = {found[1] for found in targets if found}
    tables = [Path(f"/proc/net/{name}").read_text().splitlines()[1:] for name in ("tcp", "tcp6")]
    rows = [row.split() for table in tables for row in table]
    return {row[1].partition(":")[0] for row in rows if row[3] == "0A" and row[9] in inodes}


@pytest.mark.slow
def test_another_version_is_refused(tree: Path, processes: Processes, tmp_path: Path) -> None:
    """Of a worker, and of a client."""
    other = tmp_path / "other/src"
    shutil.copytree(ROOT / "src", other)
    with (other / "quire/lab.py").open("a") as file:
        file.write("# changed\n")
    processes.scheduler()
    processes.start("old", "worker", processes.address, PYTHONPATH=str(other))
    assert processes.children["old"].wait(PATIENCE) == 2
    assert "different versions of quire" in (processes.logs / "old").read_text()
    words = ("test", "--source", str(tree), "ARCH=arm64", "--cluster", processes.address)
    said(processes.quire(*words), 2, "has no workers")
    run = processes.quire.start(*words, PYTHONPATH=str(other))
    assert "different versions of quire" in run.communicate(timeout=PATIENCE)[1]
    assert run.returncode == 2


@pytest.mark.slow
@pytest.mark.skipif(not shutil.which("openssl"), reason="no openssl to make certificates")
def test_with_certificates_and_only_with_them(
    tree: Path, processes: Processes, tmp_path: Path
) -> None:
    for name in ("ours", "theirs"):
        certificates(tmp_path / name)
    tls = ("--tls", str(tmp_path / "ours"))
    address = processes.scheduler(*tls)
    assert address.startswith("tls://")
    processes.worker("one", *tls)
    words = ("test", "--source", str(tree), "ARCH=arm64", "--cluster", address)
    processes.quire.passes(*words, *tls)
    assert processes.quire(*words, "--tls", str(tmp_path / "theirs")).returncode == 2
    assert processes.quire(*words).returncode == 2


def certificates(directory: Path) -> None:
    """An authority, and a certificate of it, as docs/dev/cluster.md has them."""
    directory.mkdir()
    text = (ROOT / "docs/dev/cluster.md").read_text()
    script = "\n".join(re.findall(r"^    (openssl .*)$", text, re.M))
    done = subprocess.run(["sh", "-ec", script], cwd=directory, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr

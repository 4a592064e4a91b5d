# SPDX-License-Identifier: GPL-2.0
"""User-mode Linux: a kernel that is a program of this host, as a machine of the lab."""

from __future__ import annotations

import json
import os
import platform
import shutil
import signal
import subprocess
import time
from pathlib import Path

import pytest
from conftest import ROOT, Quire, line_patch, said
from known import X86_64
from test_interrupt import interrupt
from test_time import data

from quire.arch import ARCHITECTURES, KNOWN, architecture, requirements
from quire.boot import start
from quire.boot.machine import Hardware, Machine
from quire.fuzz.programs import Programs
from quire.host.errors import UserError
from quire.kernels import existing
from quire.kernels.guest import Guest
from quire.kernels.kernel import Kernel, Toolchain
from quire.source import line as lines
from quire.source.base import Base
from quire.source.tree import stock
from quire.source.version import parse

UM = KNOWN["um"]


@pytest.fixture
def lab(quire: Quire) -> Quire:
    """A quire whose line has a configuration for UML, and a patch that its kernels need."""
    try:
        requirements.require_uml(UM)
    except UserError as error:
        pytest.skip(error.what)
    folder = quire.project / "lines/6.12"
    (quire.project / "configs/um.config").write_text("CONFIG_UM_FAKE=y\n")
    text = (folder / "line.toml").read_text()
    arch = 'x86_64 = ["configs/x86_64.config"]\n'
    own = 'um = ["../../configs/um.config"]\n'
    (folder / "line.toml").write_text(text.replace(arch, arch + own))
    (folder / "um").mkdir()
    (folder / "um/uml.patch").write_text(line_patch("um: more", 15, "um 15"))
    (folder / "um/series").write_text("uml.patch\n")
    return quire


def kernel(directory: Path, config: str = "") -> Kernel:
    """A kernel that is not there, with a configuration."""
    (directory / ".config").write_text(config)
    tree = stock(Base("key", parse("7.3.4"), "fake", "sha256:0", directory))
    return Kernel(UM, tree, "key", Toolchain("", "gcc"), directory, "0123")


def test_it_is_there_on_request_only() -> None:
    assert architecture("uml") is architecture("um") is UM
    assert "um" not in ARCHITECTURES
    # Both are set in its configurations, and the first that is set decides.
    names = list(KNOWN)
    assert names.index("um") < names.index("x86_64")
    assert UM.guest == X86_64.name
    assert not [need for need in requirements.needs([UM]) if "qemu" in need.name]


def test_the_words_of_the_kernel_and_of_uml(tmp_path: Path) -> None:
    boot = Machine(kernel(tmp_path), Guest(UM, tmp_path / "x", ""), ("test", "a b.*"))
    words = start.argv(boot, tmp_path)
    at = words.index(str(tmp_path / "linux"))
    assert words[at:][:3] == [str(tmp_path / "linux"), "mem=2G", f"initrd={tmp_path / 'x'}"]
    assert "noreboot" in words
    assert "time-travel" in words
    assert words.index("quire_results=ttyS0") < words.index("--")
    real = Machine(boot.kernel, boot.guest, ("time",), Hardware(icount=False))
    assert "time-travel" not in start.argv(real, tmp_path)
    shown = start.argv(boot, tmp_path, terminal=True)
    assert not [word for word in shown if "ttyS0" in word or "/dev/null" in word]


def test_kernels_at_the_same_time_have_a_cpu_each(tmp_path: Path) -> None:
    words = start.command(Machine(kernel(tmp_path), None, ()), tmp_path)
    alone = [word.replace("/dev/shm", str(tmp_path)) for word in words]
    alone = alone[: words.index(start.ALONE) + 2]
    host, end = sorted(os.sched_getaffinity(0)), tmp_path / "end"
    # Each says where it may run, and stays until the last one has said so.
    script = "taskset -cp $$ >$0.new; mv $0.new $0; until [ -e $1 ]; do sleep 0.01; done"
    runs, cpus = [], []
    for number in range(len(host) + 1):
        says = tmp_path / f"run-{number}"
        runs.append(subprocess.Popen([*alone, "sh", "-c", script, str(says), str(end)]))
        while not says.exists() and runs[-1].poll() is None:
            time.sleep(0.01)
        cpus.append(says.read_text().split()[-1])
    end.touch()
    assert [run.wait() for run in runs] == [0] * len(runs)
    assert cpus[:-1] == [str(cpu) for cpu in host]
    assert len(host) == 1 or cpus[-1] not in cpus[:-1]


def test_several_cpus_need_a_kernel_for_them(tmp_path: Path) -> None:
    two = Machine(kernel(tmp_path), None, (), Hardware(2))
    with pytest.raises(UserError, match="supports only one CPU"):
        start.argv(two, tmp_path)
    two = Machine(kernel(tmp_path, "CONFIG_SMP=y\n"), None, (), Hardware(2))
    assert "ncpus=2" in start.argv(two, tmp_path)


def test_both_sides_have_what_its_kernels_need(lab: Quire, tree: Path) -> None:
    words = ("build", "--source", str(tree))
    done = lab.passes(*words, "ARCH=um")
    for line in done.stdout.splitlines():
        _, label, objdir = line.split()
        image = (Path(objdir) / "linux").read_text()
        assert "\num 15\n" in image
        assert ("\nrun 8\n" in image) == (label == "patched")
        config = (Path(objdir) / ".config").read_text()
        assert "CONFIG_UM_FAKE=y" in config
        assert "CONFIG_FAKE=y" not in config
    other = lab.passes(*words, "ARCH=x86_64").stdout.splitlines()
    assert not [
        line for line in other if "um 15" in (Path(line.split()[2]) / X86_64.image).read_text()
    ]
    (lab.project / "lines/6.12/um/uml.patch").write_text(line_patch("um: other", 8, "um 8"))
    said(lab(*words, "ARCH=um"), 2, "uml.patch")


def test_tests_run_and_lost_guests_are_told(lab: Quire, tree: Path) -> None:
    words = ("test", "--source", str(tree), "ARCH=um")
    assert "um patched 6.12.117: 2 pass" in lab.passes(*words).stdout
    assert lab(*words, FAKE_QEMU="wrong").returncode == 1
    said(lab(*words, FAKE_QEMU="panic"), 4, "splat (panic)", "whole log: ")
    said(lab(*words, FAKE_QEMU="mute"), 4, "without a verdict (UML: 0)")
    said(lab(*words, "--smp", "2"), 2, "supports only one CPU", "--smp 1")


def test_ctrl_c_ends_all_of_its_processes(lab: Quire, tree: Path, tmp_path: Path) -> None:
    words = ("test", "--source", str(tree), "ARCH=um")
    done = interrupt(lab, tmp_path / "started", signal.SIGINT, *words, FAKE_QEMU="hang")
    assert done.returncode == 130


def test_what_may_never_end_is_left_out_where_the_clock_stands_still() -> None:
    endless = {line.name: line.endless for line in lines.known(ROOT)}
    assert endless == {"6.12": ("take",), "7.3": ()}
    assert UM.append_fuzz
    assert not X86_64.append_fuzz
    all_of_them, some = Programs(100), Programs(100, without=endless["6.12"])
    longer, shorter = ([each.program(n) for n in range(100)] for each in (all_of_them, some))
    assert longer != shorter
    assert shorter == [tuple(op for op in ops if op.verb != "take") for ops in longer]


def test_programs_are_compared_without_the_plugin(lab: Quire, tree: Path) -> None:
    words = ("fuzz", "compare", "--source", str(tree), "ARCH=um", "--programs", "20")
    assert lab(*words).returncode == 0
    commands = [path.read_text() for path in lab.build.glob("boot/fuzz-um-*/command")]
    # The words for init end the command line; the later clock counts.
    assert len(commands) == 2
    assert all(
        command.index(" time-travel=inf-cpu ") < command.index(" -- fuzz") for command in commands
    )
    assert lab(*words, FAKE_QEMU="differ").returncode == 1
    assert lab("fuzz", "oracle", *words[2:]).returncode in (0, 1)


def test_times_of_both_kernels(lab: Quire, tree: Path, tmp_path: Path) -> None:
    found = data(move=[[1.0] * 9])
    found["rows"][0]["counters"]["um-sync-ns"] = 0.25
    found["rows"].append({**found["rows"][0], "name": "move:kernel"})
    (tmp_path / "x").write_text(json.dumps(found, indent=0) + "\n")
    words = (
        "time",
        "run",
        "--source",
        str(tree),
        "ARCH=um",
        "--boots",
        "2",
        "--output",
        str(tmp_path),
    )
    done = lab.passes(*words, FAKE_DOCUMENT=str(tmp_path / "x"))
    assert done.stdout.count("not significant") == 2
    in_step = done.stdout.partition("synchronise")[2]
    assert "0.25" in in_step
    assert "move:kernel" not in in_step
    stock_times = json.loads((tmp_path / "stock.json").read_text())
    assert [len(row["boots"]) for row in stock_times["rows"]] == [2, 2]
    said(lab("time", "run", "ARCH=um,x86_64"), 2, "time it alone")


@pytest.mark.parametrize(
    "words",
    [("bench",), ("profile", "mremap"), ("demo",), ("deb",), ("kunit",), ("check", "--quick"),
     ("fuzz", "cost"), ("time", "run", "--kvm"), ("time", "run", "--emulate"),
     ("time", "run", "--bundle", "x")],
)  # fmt: skip
def test_what_needs_an_emulator_is_refused(quire: Quire, words: tuple[str, ...]) -> None:
    said(quire(*words, "ARCH=um"), 2, "impossible with ARCH=um", "use one of: ARCH=arm64")


def test_a_built_kernel_is_known_by_its_own_option(lab: Quire, tree: Path) -> None:
    lab.passes("build", "--stock", "--source", str(tree), "ARCH=um")
    (objdir,) = lab.build.glob("tree/*/linux/o-um-*")
    (objdir / "include/config/kernel.release").write_text("6.12.117\n")
    options = (*existing.OPTIONS, *UM.guest_options, UM.option, X86_64.option)
    (objdir / ".config").write_text("".join(f"{option}=y\n" for option in options))
    done = lab.passes("test", "--kernel", str(objdir), "--json")
    (found,) = json.loads(done.stdout)["kernels"]
    assert found["architecture"] == "um"


@pytest.mark.parametrize("lacks", ["machine", "ptrace", "memory", "maps"])
def test_a_host_that_cannot(lacks: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(platform, "machine", lambda: UM.machine)
    monkeypatch.setattr(requirements, "TRACED", "")
    monkeypatch.setattr(requirements, "MAPS", tmp_path / "max_map_count")
    (tmp_path / "max_map_count").write_text("65530\n")
    usage = shutil.disk_usage("/")._replace(free=4 << 30)
    monkeypatch.setattr(shutil, "disk_usage", lambda _: usage)
    monkeypatch.setattr(requirements, "MEMORY", tmp_path)
    requirements.require_uml(UM)
    if lacks == "machine":
        monkeypatch.setattr(platform, "machine", lambda: "aarch64")
    elif lacks == "ptrace":
        monkeypatch.setattr(requirements, "TRACED", "raise SystemExit(1)")
    elif lacks == "memory":
        usage = usage._replace(free=64 << 20)
    else:
        (tmp_path / "max_map_count").write_text("4096\n")
    with pytest.raises(UserError) as error:
        requirements.require_uml(UM)
    text = {"machine": "this host is aarch64", "ptrace": "SYS_PTRACE", "memory": "--shm-size",
            "maps": "sysctl vm.max_map_count=65530"}  # fmt: skip
    assert text[lacks] in error.value.text()

# SPDX-License-Identifier: GPL-2.0
"""An option that would do nothing is refused, with its name."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest
from conftest import Quire
from known import ARM64, X86_64

from quire.arch import on_cpu

# Commands, and what each does not take.
NOT_TAKEN = """\
time compare a b | --only=x --git=x -j2
cluster worker x | --only=x --port=1
cluster scheduler | tcp://x --name=x -j77
time leaf | mremap --runs=3
apply DIR | --base=7.3 --source=x --series=x --config=x -j2
export DIR | --base=7.3 --source=x
tree | --b=x --config=x -j2
kunit | --config=x
doctor | --source=x --only=x
test | -n
soak | --nonsense --oper=3"""
# Commands, what has no effect there, and where that is.
NOTHING = """\
time compare a b | ARCH=arm64 | for quire time compare
time leaf | ARCH=arm64 | for quire time leaf
apply DIR | CROSS_COMPILE=x | for quire apply
export DIR | ARCH=arm64 | for quire export
export DIR | --author='A <a@b.c>' --only=ksm | without --post
tree | ARCH=arm64 | for quire tree
tree 6.12 | --base=7.3 | with the base 6.12
build --source DIR | --base=7.3 | with a tree of your own
build --stock | --only=ksm --series=x | with --stock
shell --stock | --only=ksm | with --stock
deb --stock | --series=x | with --stock
soak --stock | --only=ksm | with --stock
test --stock | --only=ksm | with --stock
test --all | --stock --smp=2 --timeout=9 --program=x.c | with --all
test --program x.c | --shard=1/2 | with --program
test --list | --junit=x mremap.* --all | with --list
test --kernel x | --line=7.3 ARCH=arm64 --all --only=ksm | with --kernel
test --kernel x | --base=7.3 --config=x --git=x | with --kernel
bench --list | --cost --repeat=3 --only=ksm | with --list
profile mremap --json | --lines=3 | with --json
time run --list | mremap --runs=3 | with --list
time run --bundle x | --output=x --runs=3 | with --bundle
time run --emulate | --boots=3 --precision=3 | with --emulate
time run | --only=ksm --boots=3 | on this machine
check --quick | --cluster=local --config=x | with --quick
check --architectures -q | --all-bases --debian-config --config=x ARCH=arm64 | with --architectures
seeded --list | --cases=x --json | with --list
kunit --list | --json | with --list
selftests --list | --smp=3 --bug=x | with --list"""


def test_an_option_of_other_commands(quire: Quire, tree: Path) -> None:
    for line in NOT_TAKEN.splitlines():
        command, words = line.replace("DIR", str(tree)).split(" | ")
        for word in words.split():
            done = quire(*command.split(), word)
            option = word.partition("=")[0]
            assert done.returncode == 2, (line, word)
            assert re.search(f"quire: quire .* does not take: {option}", done.stderr), done.stderr
            assert "remedy: " in done.stderr


def test_an_option_without_effect(quire: Quire, tree: Path) -> None:
    for line in NOTHING.splitlines():
        command, words, where = line.replace("DIR", str(tree)).split(" | ")
        for word in shlex.split(words):
            done = quire(*command.split(), word)
            name = word.partition("=")[0]
            assert done.returncode == 2, (line, word)
            text = rf"^quire: {re.escape(name)}=? has no effect {where}"
            assert re.search(text, done.stderr, re.M), (line, word, done.stderr)
            assert "remedy: " in done.stderr
    assert not (quire.build / "base").exists()
    assert "--tls requires --cluster" in quire("bench", "--tls", "x").stderr


# Options that exclude each other, or do nothing.
WRONG_FUZZ = (
    "replay --oracle --cost x", "compare --stock", "replay x --fixed", "seeded --oracle --stock",
    "cost --fixed", "compare --noise", "seeded --cost --noise", "replay --cost --faults x",
    "cost --faults", "seeded --faults", "replay --corpus --programs 3", "replay",
    "replay x --corpus", "replay x --stock", "oracle --stock --fixed", "oracle --no-coverage",
)  # fmt: skip


@pytest.mark.parametrize("words", WRONG_FUZZ)
def test_options_of_fuzz_that_exclude_each_other(quire: Quire, words: str) -> None:
    done = quire("fuzz", *words.split())
    assert done.returncode == 2, done.stderr
    assert not quire.build.exists()


def test_old_spellings_are_answered_with_the_new_ones(quire: Quire) -> None:
    for old, new in (
        ("fuzz ARCH=arm64", "quire fuzz compare ARCH=arm64"),
        ("fuzz --replay x --cost", "quire fuzz replay x --cost"),
        ("fuzz --corpus --oracle", "quire fuzz replay --corpus --oracle"),
        ("fuzz --oracle --seeded all", "quire fuzz seeded --oracle all"),
        ("fuzz --cost --stock", "quire fuzz cost --stock"),
        ("time --leaf", "quire time leaf"),
        ("time '*' --kvm", "quire time run '*' --kvm"),
        ("compare a b", "quire time compare a b"),
        ("figures --write", "scripts/figures --write"),
    ):
        done = quire(*shlex.split(old))
        assert done.returncode == 2
        assert f"remedy: {new} " in done.stderr


def test_a_further_cpu_changes_the_machine_and_not_the_kernel() -> None:
    (other,) = on_cpu((X86_64, ARM64), "cortex-a72")
    assert other.machine_args[-2:] == ("-cpu", "cortex-a72")
    assert (other.name, other.label) == ("arm64", "arm64 cortex-a72")


def test_a_cpu_that_an_architecture_does_not_have(quire: Quire) -> None:
    done = quire("test", "ARCH=x86_64", "--cpu", "cortex-a72")
    assert done.returncode == 2
    assert "cortex-a72 is not a CPU of x86_64" in done.stderr
    assert "use ARCH=arm64" in done.stderr
    assert "unknown CPU 'pdp11'" in quire("soak", "--cpu", "pdp11").stderr


def test_what_the_plugin_does_not_decode_is_not_counted(quire: Quire) -> None:
    done = quire("bench", "ARCH=i386")
    assert done.returncode == 2
    assert "does not decode instructions of i386" in done.stderr
    assert "the fuzzer does not run on i386" in quire("fuzz", "compare", "ARCH=i386").stderr

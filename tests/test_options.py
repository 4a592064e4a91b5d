# SPDX-License-Identifier: GPL-2.0
"""An option that would do nothing is refused, with its name."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

from conftest import Quire

# The command, and what it does not take.
NOT_TAKEN = """\
compare a b --only x
compare a b --git x
compare a b -j2
figures --base 7.3
cluster worker x --only x
apply DIR --base 7.3
apply DIR --source x
apply DIR --series x
apply DIR --config x
apply DIR -j2
export DIR --base 7.3
export DIR --source x
tree --b x
tree --config x
tree -j2
kunit --config x
doctor --source x
doctor --only x
demo --dry-run
bench --dry-run
test -n
soak --nonsense
soak --oper 3"""
# The command with an option, and where it does nothing.
NOTHING = """\
compare a b ARCH=arm64: ARCH= .* for quire compare
apply DIR CROSS_COMPILE=x: CROSS_COMPILE= .* for quire apply
export DIR ARCH=arm64: ARCH= .* for quire export
tree ARCH=arm64: ARCH= .* for quire tree
cluster scheduler tcp://x: tcp://x .* for a scheduler
cluster scheduler --name x: --name .* for a scheduler
cluster scheduler -j77: --jobs .* for a scheduler
cluster worker x --port 1: --port .* for a worker
export DIR --author 'A <a@b.c>': --author .* without --post
export DIR --only ksm: --only .* without --post
tree 6.12 --base 7.3: --base .* with the base 6.12
build --source DIR --base 7.3: --base .* beside a tree of your own
build --stock --only ksm: --only .* with --stock
shell --stock --only ksm: --only .* with --stock
deb --stock --series x: --series .* with --stock
soak --stock --only ksm: --only .* with --stock
test --stock --only ksm: --only .* with --stock
test --all --stock: --stock .* with --all
test --all --smp 2: --smp .* with --all
test --all --timeout 9: --timeout .* with --all
test --all --program x.c: --program .* with --all
test --program x.c --shard 1/2: --shard .* with --program
test --list --junit x: --junit .* with --list
test --list mremap.*: mremap.* .* with --list
bench --list --cost: --cost .* with --list
bench --list --repeat 3: --repeat .* with --list
bench --list --only ksm: --only .* with --list
profile mremap --json --lines 3: --lines .* with --json
time --list mremap: mremap .* with --list
time --bundle x --output x: --output .* with --bundle
time --bundle x --runs 3: --runs .* with --bundle
time --emulate --boots 3: --boots .* with --emulate
time --emulate --precision 3: --precision .* with --emulate
time --only ksm: --only .* on this machine
time --boots 3: --boots .* on this machine
check --quick --cluster local: --cluster .* with --quick
check --quick --config x: --config .* with --quick
check --architectures ARCH=arm64: ARCH= .* with --architectures
test --kernel x --line 7.3: --line .* with --kernel
test --kernel x ARCH=arm64: ARCH= .* with --kernel
check --architectures --all-bases: --all-bases .* with --architectures
check --architectures --debian-config: --debian-config .* with --architectures
check --architectures --config x: --config .* with --architectures
seeded --list --cases x: --cases .* with --list
seeded --list --json: --json .* with --list
kunit --list --json: --json .* with --list
selftests --list --smp 3: --smp .* with --list
selftests --list --bug x: --bug .* with --list
bench --tls x: --tls is for --cluster"""


def test_an_option_of_other_commands(quire: Quire, tree: Path) -> None:
    for line in NOT_TAKEN.splitlines():
        name, *words = line.replace("DIR", str(tree)).split()
        done = quire(name, *words)
        option = next(word for word in words if word.startswith("-"))
        assert done.returncode == 2, line
        assert re.search(f"^quire: quire {name} does not take: .*{option}", done.stderr), line
        assert "remedy: " in done.stderr


def test_an_option_without_effect(quire: Quire, tree: Path) -> None:
    for line in NOTHING.splitlines():
        words, _, text = line.replace("DIR", str(tree)).partition(": ")
        done = quire(*shlex.split(words))
        assert done.returncode == 2, line
        assert re.search(f"^quire: {text}", done.stderr, re.M), line + done.stderr
        assert "remedy: " in done.stderr
    assert not (quire.build / "base").exists()

# SPDX-License-Identifier: GPL-2.0
"""The counting plugin against guests with instructions counted by hand.

The guests are counter/tests/*.S; comments in their code give the expected counts.
"""

from __future__ import annotations

import re
import subprocess
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import pytest
from known import ARM64, X86_64

from quire.arch import Architecture
from quire.boot import counts, qemu, stops
from quire.boot.counts import SymbolCount

ROOT = Path(__file__).resolve().parent.parent
COUNTER = ROOT / "counter"
TIMEOUT = 60
ICOUNT = ("-icount", "shift=0,sleep=off")


@dataclass(frozen=True)
class Target:
    """How one architecture's guest is built and started."""

    arch: Architecture
    stem: str
    machine: tuple[str, ...]
    start: tuple[str, ...]
    # The regions that interrupts disturb, also in a span; the handler's name and length.
    interrupted: int
    held: int
    handler: str
    handler_insns: int


TARGETS = [
    Target(
        ARM64,
        "aarch64",
        ("-M", "virt", "-cpu", "max"),
        ("-device", "loader,cpu-num=0,file={elf}"),
        interrupted=9,
        held=15,
        handler="el1_irq",
        handler_insns=4,
    ),
    Target(
        X86_64,
        "x86_64",
        ("-M", "microvm,acpi=off,auto-kernel-cmdline=off,pit=off,pic=off,rtc=off", "-cpu", "max"),
        ("-kernel", "{elf}"),
        interrupted=15,
        held=22,
        handler="k_timer",
        handler_insns=2,
    ),
]


def call(*argv: str | Path) -> str:
    """Run a tool; it must succeed."""
    done = subprocess.run(
        [str(word) for word in argv], text=True, capture_output=True, check=False, timeout=TIMEOUT
    )
    assert done.returncode == 0, f"{argv}\n{done.stdout}{done.stderr}"
    return done.stdout


@dataclass
class Bench:
    """A plugin and a place to build and run guests in."""

    target: Target
    directory: Path
    plugin: Path

    def build(self, *defines: str) -> Path:
        """Build the guest's ELF file and its symbol list."""
        target, elf = self.target, self.directory / "-".join(["guest", *defines])
        script = COUNTER / "tests" / f"{target.stem}.ld"
        flags = ["-nostdlib", "-static", "-no-pie", "-Wl,--build-id=none", f"-Wl,-T,{script}"]
        call(
            f"{target.arch.cross_compile}gcc",
            *flags,
            *(f"-D{name}" for name in defines),
            *("-o", elf, COUNTER / "tests" / f"{target.stem}.S"),
        )
        listing = call(f"{target.arch.cross_compile}nm", "-n", elf)
        rows = re.findall(r"^(f[0-9a-f]{15}) \w (\w+)$", listing, re.M)
        # k_unnamed… is kernel code without a symbol.
        named = [
            f"{address} {name.partition('__')[0]}\n"
            for address, name in rows
            if not name.startswith("k_unnamed")
        ]
        elf.with_suffix(".symbols").write_text("".join(named))
        return elf

    def qemu(self, elf: Path, arguments: str, *more: str) -> subprocess.CompletedProcess[str]:
        """Run QEMU with the plugin until it exits."""
        target = self.target
        argv = [qemu.of(target.arch).binary, *target.machine, "-m", "64", "-smp", "1"]
        argv += ["-nodefaults", "-no-user-config", "-display", "none", "-no-reboot"]
        argv += [word.format(elf=elf) for word in target.start]
        argv += ["-plugin", f"{self.plugin}{arguments}", *more]
        return subprocess.run(argv, text=True, capture_output=True, check=False, timeout=TIMEOUT)

    def count(self, *defines: str, icount: bool = True, more: str = "") -> list[str]:
        """The plugin's output lines for the guest built with `defines`."""
        elf = self.build(*defines)
        out = elf.with_suffix(".count")
        arguments = f",symbols={elf.with_suffix('.symbols')},out={out}{more}"
        arguments += "".join(f",span={span}" for span in spans(self.target))
        done = self.qemu(elf, arguments, *(ICOUNT if icount else ()))
        assert done.returncode == 0, done.stderr
        return out.read_text().splitlines()

    def stream(self, detail: str = "") -> tuple[list[str], list[str]]:
        """The plugin's output lines of a run with a stream, and the lines of the stream."""
        path, watch = self.directory / "stream", self.directory / "watch"
        watch.write_text("".join(f"{name}\n" for name in noted(self.target, "watch=")))
        lines = self.count(more=f",stream={path},watch={watch}{detail}")
        return lines, path.read_text().splitlines()


@pytest.fixture(scope="module", params=TARGETS, ids=lambda target: target.stem)
def bench(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Bench:
    """A bench for each architecture. host.qemu() names the package if QEMU is missing."""
    target: Target = request.param
    directory = tmp_path_factory.mktemp(target.stem)
    api = qemu.of(target.arch).plugin_api
    call("make", "-C", COUNTER, f"OUT={directory}", f"API={api}")
    return Bench(target, directory, directory / "libquire-count.so")


@pytest.fixture(scope="module")
def counted(bench: Bench) -> list[str]:
    """The lines of one ordinary run."""
    return bench.count()


def source(target: Target) -> str:
    """The guest's source, with the plugin's arguments and the expected counts."""
    return (COUNTER / "tests" / f"{target.stem}.S").read_text()


def noted(target: Target, word: str) -> list[str]:
    """What comments in the guest's source say after `word`, in order."""
    return re.findall(rf"^ \* {word} ?(.+)$", source(target), re.M)


def spans(target: Target) -> list[str]:
    """The span= arguments in the guest's source, in order."""
    return noted(target, "span=")


def expectations(target: Target) -> dict[int, set[str]]:
    """The expected counts in the guest's source; zero for what is not mentioned."""
    regions: dict[int, set[str]] = {}
    for line in noted(target, "expect:"):
        regions.setdefault(int(line.split()[1]), set()).add(line)
    for number, lines in regions.items():
        zeros = {f"tlb {number} {name} ": "0" for name in target.arch.tlb_classes}
        zeros |= {f"event {number} {kind} ": "0" for kind in target.arch.event_kinds}
        zeros |= {f"span {number} {span.partition(':')[0]} ": "0 0" for span in spans(target)}
        for start, zero in zeros.items():
            if not any(line.startswith(start) for line in lines):
                lines.add(start + zero)
    return regions


def of_region(lines: list[str], number: int) -> list[str]:
    """The output lines of one region."""
    return [line for line in lines[1:-1] if line.split()[1] == str(number)]


def test_counts_are_what_was_counted_by_hand(bench: Bench, counted: list[str]) -> None:
    assert counted[0] == f"quire-count 2 {bench.target.stem}"
    assert counted[-1] == "end"
    regions = expectations(bench.target)
    assert len(regions) >= 9
    for number, lines in regions.items():
        assert sorted(of_region(counted, number)) == sorted(lines)


def test_interrupts_do_not_disturb_the_count(bench: Bench, counted: list[str]) -> None:
    target = bench.target
    lines = of_region(counted, target.interrupted)
    found = re.search(r"user (\d+) kernel (\d+) other 0$", lines[0])
    assert found, lines
    user, kernel = map(int, found.groups())
    assert user == 1_000_000
    calls = kernel // target.handler_insns
    assert calls >= 500
    assert lines[-1] == f"sym {target.interrupted} {target.handler} {kernel} {calls}"
    assert kernel == calls * target.handler_insns


def test_interrupts_in_a_span_are_part_of_it(bench: Bench, counted: list[str]) -> None:
    lines = of_region(counted, bench.target.held)
    total = re.search(r"insns (\d+) ", lines[0])
    held = re.search(r"^span \d+ held 1 (\d+)$", "\n".join(lines), re.M)
    handled = re.search(rf"^sym \d+ {bench.target.handler} \d+ (\d+)$", "\n".join(lines), re.M)
    assert total and held and handled, lines
    assert int(handled[1]) >= 100
    # The call of k_lock, k_unlock and the code after it.
    assert int(total[1]) - int(held[1]) == 2 + 2 + 1


def test_lines_of_a_region_stand_in_order(bench: Bench, counted: list[str]) -> None:
    lines = of_region(counted, 5)
    assert [line.split()[0] for line in lines] == [
        "region",
        *["tlb"] * len(bench.target.arch.tlb_classes),
        *["event"] * len(bench.target.arch.event_kinds),
        *["span"] * len(spans(bench.target)),
        *["sym"] * 4,
    ]
    names = [line.split()[2] for line in lines if line.startswith("span")]
    assert names == [span.partition(":")[0] for span in spans(bench.target)]


def test_two_runs_give_the_same_output(bench: Bench, counted: list[str]) -> None:
    assert bench.count() == counted


def test_each_stop_has_a_line_in_the_stream(bench: Bench, counted: list[str]) -> None:
    lines, stream = bench.stream()
    # By symbol only what was asked for.
    assert lines == [line for line in counted if not line.startswith("sym ")]
    assert all(line.startswith("stop ") for line in stream)
    expected = noted(bench.target, "stop:")
    assert len(expected) >= 2
    regions = {line.split()[1] for line in expected}
    assert [line for line in stream if line.split()[1] in regions] == expected


def test_the_stream_adds_up(bench: Bench, counted: list[str]) -> None:
    """With detail, the counts are those of a run without a stream, and the sums of the stops."""
    lines, stream = bench.stream(",detail=on")
    assert lines == counted
    regions = counts.parse("\n".join(counted))
    found: dict[int, list[stops.Stop]] = {number: [] for number in regions}
    for stop in stops.parse(stream):
        found[stop.region].append(stop)
    for number, region in regions.items():
        ended = found[number]
        assert len(ended) == region.runs
        assert region.total == sum(stop.insns for stop in ended)
        assert region.user == sum(stop.user for stop in ended)
        assert region.kernel == sum(stop.kernel for stop in ended)
        total: Counter[str] = sum((Counter(stop.counts) for stop in ended), Counter())
        calls = {
            name: region.symbols[name].calls
            for name in noted(bench.target, "watch=")
            if name in region.symbols
        }
        assert total == +Counter(region.tlb | region.events | calls)
        symbols: dict[str, SymbolCount] = {}
        for stop in ended:
            for name, count in stop.symbols.items():
                symbols[name] = symbols.get(name, SymbolCount(0, 0)) + count
        assert symbols == region.symbols


@pytest.mark.parametrize(
    ("define", "message"),
    [
        ("NOT_ARMED", "marker of region 1 while not armed"),
        ("STARTED_TWICE", "region 1 was started twice without a stop"),
        ("NEVER_STARTED", "region 1 was stopped without a start"),
        ("LEFT_OPEN", "region 99 was started and never stopped"),
        ("DISARMED", "marker of region 99 while not armed"),
    ],
)
def test_a_guest_that_misuses_markers_spoils_the_output(
    bench: Bench, define: str, message: str
) -> None:
    lines = bench.count(define)
    assert lines[-1] == f"error {message}"
    assert "end" not in lines


def test_string_instructions_without_icount_are_exact_or_refused(bench: Bench) -> None:
    lines = bench.count(icount=False)
    if lines[-1] == "end":
        assert sorted(of_region(lines, 7)) == sorted(expectations(bench.target)[7])
    else:
        assert bench.target.arch is X86_64
        assert lines[-1] == "error rep instructions cannot be counted without -icount"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("", "no out=FILE to write the counts to"),
        (",out=@/no/such/directory/file", "cannot open out=@/no/such/directory/file: No such file"),
        (",out=@/o,sybmols=@/s", 'argument "sybmols=@/s" is unknown; there are symbols=FILE'),
        (",out=@/o,symbols=@/none", "cannot open symbols=@/none: No such file"),
        (",out=@/o,detail=on", "detail=on needs stream=FILE"),
        (",out=@/o,stream=@/s,detail=yes", "detail=yes: there is only detail=on"),
        (",out=@/o,watch=@/some", "watch=FILE needs stream=FILE"),
        (",out=@/o,stream=@/no/file", "cannot open stream=@/no/file: No such file"),
        (",out=@/o,symbols=@/good,stream=@/s,watch=@/none", "cannot open watch=@/none: No such"),
        (
            ",out=@/o,symbols=@/good,stream=@/s,watch=@/others",
            "watch=@/others names no function of symbols=FILE",
        ),
        (
            ",out=@/o,symbols=@/good,stream=@/s,watch=@/nonsense",
            "watch=@/nonsense:1: expected a line with one name",
        ),
        (",out=@/o,symbols=@/unsorted", "@/unsorted:3: address fff0 is below the one before it"),
        (",out=@/o,symbols=@/nonsense", '@/nonsense:2: expected a line "hexaddress name"'),
        (",out=@/o,symbols=@/empty", "@/empty: no symbols in it"),
        (",out=@/o,symbols=@/good,span=x:a", "span=x:a is not span=NAME:BEGIN:END"),
        (",out=@/o,symbols=@/good,span=x:a:b:c", "span=x:a:b:c is not span=NAME:BEGIN:END"),
        (",out=@/o,symbols=@/good,span=:a:b", "span=:a:b is not span=NAME:BEGIN:END"),
        (",out=@/o,symbols=@/good,span=x y:a:b", "span=x y:a:b is not span=NAME:BEGIN:END"),
        (",out=@/o,symbols=@/good,span=x:n:b", 'span=x:n:b: no "n" in symbols=FILE'),
        (",out=@/o,symbols=@/good,span=x:a:n", 'span=x:a:n: no "n" in symbols=FILE'),
        (",out=@/o,span=x:a:b", 'span=x:a:b: no "a" in symbols=FILE'),
        (",out=@/o,symbols=@/good,span=x:a:alias", "span=x:a:alias begins and ends with the same"),
        (",out=@/o,symbols=@/good,span=x:a:b,span=x:b:a", "span=x:b:a: there is a span of that"),
        (
            ",out=@/o,symbols=@/good" + "".join(f",span=x{n}:a:b" for n in range(33)),
            "span=x32:a:b is one too many; there can be 32",
        ),
    ],
)
def test_wrong_arguments_are_refused(bench: Bench, arguments: str, message: str) -> None:
    place = bench.directory
    (place / "unsorted").write_text("fff0 a\nfff8 b\nfff0 c\n")
    (place / "nonsense").write_text("fff0 a\nfff8 T b\n")
    (place / "empty").write_text("")
    (place / "others").write_text("x\ny\n")
    (place / "good").write_text("fff0 a\nfff0 alias\nfff8 b\n")
    done = bench.qemu(bench.build(), arguments.replace("@", str(place)))
    assert done.returncode != 0
    assert f"libquire-count: {message.replace('@', str(place))}" in done.stderr


@pytest.mark.slow
def test_all_plugin_interfaces_compile(bench: Bench) -> None:
    for api in ("1", "3", "4"):
        call("make", "-C", COUNTER, f"OUT={bench.directory / api}", f"API={api}")

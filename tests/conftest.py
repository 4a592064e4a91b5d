# SPDX-License-Identifier: GPL-2.0
"""A fake project, kernel tree and tools, so that a complete run takes milliseconds."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import textwrap
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest
from hypothesis import settings

from quire.host import process

# Their fixtures are for several files.
pytest_plugins = ("archive", "counter_bench", "decoder")

# The host may be busy; a slow example is not a failure.
settings.register_profile("quire", deadline=None)
settings.load_profile("quire")

# A shell's background job ignores SIGINT, and its children would inherit that.
signal.signal(signal.SIGINT, signal.default_int_handler)

ROOT = Path(__file__).resolve().parent.parent
FAKES = Path(__file__).parent / "fakes"
LOGS = Path(__file__).parent / "logs"

# Seconds. Only for a test that would never end: a busy host may need minutes.
HANGS = 1800

SOURCE = "".join(f"line {number}\n" for number in range(1, 41))


def patch_text(subject: str, old: str, new: str, at: int, context: Sequence[str]) -> str:
    """A mail that replaces line `at` of mm/mremap.c; `context` are the lines around it."""
    before, after = context[:3], context[3:]
    body = [f" {line}" for line in before] + [f"-{old}", f"+{new}"] + [f" {line}" for line in after]
    return (
        "From 0000000000000000000000000000000000000000 Mon Sep 17 00:00:00 2001\n"
        "From: A Developer <dev@example.org>\n"
        "Date: Thu, 1 Jan 2026 00:00:00 +0000\n"
        f"Subject: [PATCH] {subject}\n\n"
        "Because.\n\nSigned-off-by: A Developer <dev@example.org>\n---\n"
        " mm/mremap.c | 2 +-\n 1 file changed, 1 insertion(+), 1 deletion(-)\n\n"
        "diff --git a/mm/mremap.c b/mm/mremap.c\n"
        "--- a/mm/mremap.c\n+++ b/mm/mremap.c\n"
        f"@@ -{at - 3},7 +{at - 3},7 @@ static int move(void)\n" + "\n".join(body) + "\n"
    )


def line_patch(subject: str, at: int, new: str) -> str:
    """A mail that replaces line `at` of the fake mm/mremap.c, which is `line <at>`."""
    context = [f"line {n}" for n in (at - 3, at - 2, at - 1, at + 1, at + 2, at + 3)]
    return patch_text(subject, f"line {at}", new, at, context)


def make_tree(directory: Path, version: str = "6.12.117") -> Path:
    """A tree that passes for a kernel's as long as nothing compiles it."""
    major, minor, patch = version.split(".")
    for name in ("mm", "arch/arm64", "scripts/kconfig", "include"):
        (directory / name).mkdir(parents=True)
    (directory / "Makefile").write_text(
        f"# SPDX-License-Identifier: GPL-2.0\nVERSION = {major}\nPATCHLEVEL = {minor}\n"
        f"SUBLEVEL = {patch}\nEXTRAVERSION =\n"
    )
    (directory / "arch/Kconfig").write_text("")
    (directory / "Kbuild").write_text("obj-y += mm/\n")
    (directory / "mm/mremap.c").write_text(SOURCE)
    merge = directory / "scripts/kconfig/merge_config.sh"
    merge.write_text('#!/bin/sh\nshift 2; out=$1/.config; shift 2; cat "$@" > "$out"\n')
    merge.chmod(0o755)
    return directory


@pytest.fixture(autouse=True)
def plain_run() -> None:
    """No test inherits -v, or that another one was leaving."""
    process.configure()


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A fake Linux 6.12.117."""
    return make_tree(tmp_path / "linux")


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A fake checkout of Quire with two topics for 6.12.100 and later."""
    root = tmp_path / "project"
    folder = root / "patches/linux-6.12.y"
    for name in ("mremap", "ksm"):
        (folder / name).mkdir(parents=True)
    (folder / "mremap/0001-mm-move-runs.patch").write_text(line_patch("mm: move runs", 8, "run 8"))
    (folder / "mremap/0002-mm-move-more.patch").write_text(
        line_patch("mm: move more", 20, "run 20")
    )
    (folder / "ksm/0001-ksm-look-less.patch").write_text(line_patch("ksm: look less", 30, "ksm 30"))
    (folder / "series").write_text(
        "# SPDX-License-Identifier: GPL-2.0\n# versions: 6.12.100-\n"
        "mremap/0001-mm-move-runs.patch\nmremap/0002-mm-move-more.patch  # quilt reads this\n"
        "# the other one\nksm/0001-ksm-look-less.patch\n"
    )
    (root / "configs").mkdir()
    line = make_line(root, "6.12", 'folder = "patches/linux-6.12.y"\n')
    shutil.copy2(ROOT / "lines/6.12/posted.toml", line)
    for part in ("guest", "counter"):
        (root / part).mkdir()
        (root / part / "Makefile").write_text("")
    (root / "guest/workloads").symlink_to(ROOT / "guest/workloads")
    return root


def make_line(root: Path, name: str, series: str = "") -> Path:
    """A kernel line as data, with a series if one is named."""
    folder = root / "lines" / name
    (folder / "configs").mkdir(parents=True)
    (folder / "configs/common.config").write_text("CONFIG_FAKE=y\n")
    for arch in ("arm64", "x86_64"):
        (folder / f"configs/{arch}.config").write_text("CONFIG_ARCH_FAKE=y\n")
    text = f'[source.debian]\npackage = "linux-source-{name}"\nconfig = "linux-config-{name}"\n'
    text += 'suites = ["bookworm-security", "trixie", "trixie-security"]\n'
    text += '[fragments]\nall = ["configs/common.config"]\n'
    text += 'arm64 = ["configs/arm64.config"]\nx86_64 = ["configs/x86_64.config"]\n'
    text += f"[series]\n{series}" if series else ""
    (folder / "line.toml").write_text(text)
    return folder


@dataclass(frozen=True)
class Server:
    """Runs commands of quire, each in a process that is forked (forked.py)."""

    process: subprocess.Popen[str]

    def run(self, words: Sequence[str], env: dict[str, str]) -> subprocess.CompletedProcess[str]:
        """Run `quire` and wait for it."""
        assert self.process.stdin
        assert self.process.stdout
        with tempfile.NamedTemporaryFile("r") as out, tempfile.NamedTemporaryFile("r") as err:
            files = (os.devnull, out.name, err.name)
            order = {"words": words, "env": env, "cwd": str(Path.cwd()), "files": files}
            print(json.dumps(order | {"seconds": HANGS}), file=self.process.stdin, flush=True)
            status = int(self.process.stdout.readline())
            return subprocess.CompletedProcess(words, status, out.read(), err.read())


@pytest.fixture(scope="session")
def server() -> Iterator[Server]:
    """One for all tests of a worker."""
    argv = [sys.executable, str(Path(__file__).parent / "forked.py")]
    env = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    with subprocess.Popen(
        argv, env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        yield Server(process)


@dataclass(frozen=True)
class Quire:
    """Runs `quire` in a separate process, with our fake tools first in PATH."""

    server: Server
    project: Path
    build: Path
    bin: Path
    environment: dict[str, str] = field(default_factory=dict)

    def command(self, *words: str) -> list[str]:
        """The argument vector, for a process of its own."""
        return [sys.executable, "-m", "quire", *words, f"O={self.build}"]

    def env(self, **extra: str) -> dict[str, str]:
        """The environment, without host variables that affect a test."""
        return {
            "PATH": f"{self.bin}:{os.environ['PATH']}",
            "HOME": str(self.build.parent),
            "PYTHONPATH": str(ROOT / "src"),
            "QUIRE_ROOT": str(self.project),
            **self.environment,
            **extra,
        }

    def __call__(self, *words: str, **extra: str) -> subprocess.CompletedProcess[str]:
        """Run `quire` and wait for it."""
        return self.server.run([*words, f"O={self.build}"], self.env(**extra))

    def start(self, *words: str, **extra: str) -> subprocess.Popen[str]:
        """Start `quire` in a process of its own."""
        pipe = subprocess.PIPE
        env = self.env(**extra)
        null = subprocess.DEVNULL
        return subprocess.Popen(
            self.command(*words), env=env, stdin=null, stdout=pipe, stderr=pipe, text=True
        )

    def passes(self, *words: str, **extra: str) -> subprocess.CompletedProcess[str]:
        """Run `quire`, which must succeed."""
        done = self(*words, **extra)
        assert done.returncode == 0, done.stderr
        return done


def said(process: subprocess.CompletedProcess[str], status: int, *texts: str) -> None:
    """The exit status, and on stderr a cause, a remedy and `texts`; never a traceback."""
    assert process.returncode == status, process.stderr
    assert process.stderr.startswith("quire: ") or "\nquire: " in process.stderr
    assert "remedy: " in process.stderr
    assert "Traceback" not in process.stderr
    for text in texts:
        assert text in process.stderr, process.stderr


def fake(tool: Path, name: str) -> None:
    """Make `tool` run a fake with this Python, which starts faster than a version manager's."""
    tool.write_text(f'#!/bin/sh\nexec {sys.executable} -IS {FAKES / name} "$@"\n')
    tool.chmod(0o755)


@pytest.fixture
def quire(server: Server, project: Path, tmp_path: Path) -> Quire:
    """Quire on the fake project, with fake make, compilers and QEMU."""
    tools = tmp_path / "bin"
    tools.mkdir()
    fake(tools / "make", "make")
    for name in ("qemu-system-aarch64", "qemu-system-x86_64"):
        fake(tools / name, "qemu")
    script = textwrap.dedent("""\
        #!/bin/sh
        echo "fake-gcc 12.2.0"
    """)
    # The browser is only for slow tests; the fake make runs none of the others.
    unused = ("ccache", "dpkg-buildpackage", "dh", "rsync", "depmod", "cpio", "openssl")
    for name in ("aarch64-linux-gnu-objcopy", "objcopy"):
        (tools / name).write_text('#!/bin/sh\nshift 6; cp "$1" "$2"\n')
        (tools / name).chmod(0o755)
    for name in ("aarch64-linux-gnu-gcc", "gcc", "chromium-headless-shell", *unused):
        (tools / name).write_text(script)
        (tools / name).chmod(0o755)
    unpack = '#!/bin/sh\nmkdir -p "$3/boot"; cp "$2" "$3/boot/vmlinuz-6.12.117-quire"\n'
    (tools / "dpkg-deb").write_text(unpack)
    (tools / "dpkg-deb").chmod(0o755)
    return Quire(server, project, tmp_path / "build", tools)


# Programs that a test may take away.
REMOVABLE = frozenset(
    "aarch64-linux-gnu-gcc apt-cache apt-get arm-linux-gnueabihf-gcc ccache clang-tidy "
    "chromium-headless-shell flex id qemu-system-x86_64 riscv64-linux-gnu-gcc shellcheck".split()
)


@pytest.fixture(scope="session")
def others(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Links to the other programs in PATH: more than a thousand, so all tests share them."""
    directory = tmp_path_factory.mktemp("others")
    found: dict[str, Path] = {}
    for folder in map(Path, os.environ["PATH"].split(":")):
        for path in folder.iterdir() if folder.is_dir() else ():
            found.setdefault(path.name, path)
    for name in found.keys() - REMOVABLE:
        (directory / name).symlink_to(found[name])
    return directory


@pytest.fixture
def without(quire: Quire, others: Path, tmp_path: Path) -> Callable[..., Quire]:
    """A Quire whose PATH lacks some programs."""

    def make(*missing: str) -> Quire:
        assert REMOVABLE.issuperset(missing)
        only = tmp_path / "only"
        only.mkdir()
        found = {name: path for name in REMOVABLE if (path := shutil.which(name))}
        found |= {path.name: str(path) for path in quire.bin.iterdir()}
        for name in found.keys() - set(missing):
            (only / name).symlink_to(found[name])
        return replace(quire, bin=only, environment={"PATH": f"{only}:{others}"})

    return make


def snapshot(directory: Path) -> dict[str, bytes]:
    """Every file below `directory` and its contents."""
    return {
        str(path.relative_to(directory)): path.read_bytes()
        for path in sorted(directory.rglob("*"))
        if path.is_file()
    }


def gone(pid: int) -> bool:
    """Whether the process has ended; a zombie counts as ended."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except OSError:
        return True

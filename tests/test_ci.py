# SPDX-License-Identifier: GPL-2.0
"""For other people's CI: JUnit XML, KTAP, described JSON, and kernels that are built already."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import jsonschema
import pytest
from conftest import ROOT, Quire
from known import ARM64, toml
from test_matrix import kernel

from quire.arch import ARCHITECTURES
from quire.boot import ktap
from quire.boot.ktap import Status
from quire.host import console
from quire.host.errors import GuestLost
from quire.kernels import existing, kconfig
from quire.suites import expected, formats
from quire.suites.expected import Expected
from quire.suites.outcome import Case, Outcome


def schema(name: str) -> Any:
    return json.loads((ROOT / f"docs/schema/{name}.json").read_text())


def outcomes() -> list[Outcome]:
    """A boot with every status, and one whose guest was lost."""
    known = [Expected("stock", ("arm64",), ("ksm.moved",), "stock <looks> elsewhere")]
    cases = (
        Case("ksm.pair", Status.PASS),
        Case("ksm.wrong", Status.FAIL, "", ("page 7 is \x00\x1b & wrong",)),
        Case("ksm.moved", Status.FAIL),
        Case("ksm.smart", Status.SKIP, "SKIP no ksmd # here"),
    )
    lost = GuestLost("the guest hung", "a place", "read the log")
    boots = [
        Outcome("arm64-stock", kernel(), cases),
        Outcome("arm64-stock-smp2", kernel(), lost=lost),
    ]
    return expected.resolve(boots, known)


def test_junit_counts_and_explains() -> None:
    root = ElementTree.fromstring(formats.junit(outcomes()))
    assert [root.get(key) for key in ("tests", "failures", "errors", "skipped")] == [*"5112"]
    whole, lost = root
    by_name = {case.get("name"): case for case in whole}
    assert len(by_name["pair"]) == 0
    assert by_name["wrong"].get("classname") == "ksm"
    assert by_name["wrong"][0].text == "page 7 is �� & wrong"
    assert by_name["moved"][0].get("message") == "expected failure: stock <looks> elsewhere"
    assert by_name["smart"][0].tag == "skipped"
    assert lost[0][0].tag == "error"
    assert "the guest hung" in str(lost[0][0].get("message"))


def test_ktap_is_read_back() -> None:
    report = ktap.parse(formats.ktap(outcomes()).splitlines())
    boot, lost = report.subtests
    found = {test.name: test for test in boot.subtests}
    assert {name: test.status for name, test in found.items()} == {
        "ksm.pair": "pass",
        "ksm.wrong": "fail",
        "ksm.moved": "pass",
        "ksm.smart": "skip",
    }
    assert found["ksm.moved"].reason.startswith("XFAIL stock")
    assert lost.status == "fail"
    assert not report.problem


def test_ktap_of_boots_that_pass_passes() -> None:
    fine = Outcome("one", kernel(), (Case("a.b", Status.PASS),))
    assert not ktap.parse(formats.ktap([fine]).splitlines()).failed


@pytest.mark.parametrize("name", console.VERSIONS)
def test_a_schema_is_one_and_names_its_version(name: str) -> None:
    found = schema(name)
    jsonschema.Draft202012Validator.check_schema(found)
    head = {key: value["const"] for key, value in found["properties"].items() if "const" in value}
    assert console.head(name) == head
    assert f"[`schema/{name}.json`]" in (ROOT / "docs/ci.md").read_text()


def test_the_documents_are_as_described(quire: Quire, tree: Path, tmp_path: Path) -> None:
    files = ("--junit", str(tmp_path / "x.xml"), "--ktap", str(tmp_path / "x.ktap"))
    words = ("--source", str(tree), "ARCH=arm64")
    done = quire("test", *words, "--json", *files, FAKE_QEMU="wrong")
    assert done.returncode == 1
    report = json.loads(done.stdout)
    jsonschema.validate(report, schema("test"))
    assert [case["status"] for case in report["kernels"][0]["cases"]] == ["pass", "fail"]
    assert ElementTree.parse(tmp_path / "x.xml").getroot().get("failures") == "1"
    assert ktap.parse((tmp_path / "x.ktap").read_text().splitlines()).failed
    done = quire("bench", "mremap", "--size", "64", *words, "--json")
    jsonschema.validate(json.loads(done.stdout), schema("bench"))


def test_a_lost_guest_is_in_the_files(quire: Quire, tree: Path, tmp_path: Path) -> None:
    file = tmp_path / "x.xml"
    words = ("test", "--source", str(tree), "ARCH=arm64", "--junit", str(file))
    assert quire(*words, FAKE_QEMU="panic").returncode == 4
    assert ElementTree.parse(file).getroot().get("errors") == "1"


@pytest.fixture
def built(quire: Quire, tree: Path) -> Path:
    """An O= directory that the fake make has built, with what a real one has besides."""
    quire.passes("build", "--stock", "--source", str(tree), "ARCH=arm64")
    (objdir,) = quire.build.glob("base/*/linux/o-arm64-*")
    (objdir / "include/config/kernel.release").write_text("6.12.117-mine+\n")
    options = (*existing.OPTIONS, *ARM64.guest_options, ARM64.option)
    (objdir / ".config").write_text("".join(f"{option}=y\n" for option in options))
    return objdir


def test_a_built_kernel_is_tested_and_left_alone(quire: Quire, built: Path) -> None:
    before = {path: path.stat().st_mtime_ns for path in built.rglob("*")}
    done = quire.passes("test", "--kernel", str(built), "--json")
    (found,) = json.loads(done.stdout)["kernels"]
    assert (found["architecture"], found["tree"], found["base"]) == (
        "arm64",
        built.name,
        "6.12.117",
    )
    assert {path: path.stat().st_mtime_ns for path in built.rglob("*")} == before
    # The same kernel twice is one boot.
    done = quire("test", "--kernel", str(built), "--kernel", str(built))
    assert done.stdout.count("2 pass") == 1


def test_stock_of_somebody_else_has_stocks_expected_failures(quire: Quire, built: Path) -> None:
    row = {"architectures": ["arm64"], "cases": ["fake.bad"], "why": "it is stock"}
    (quire.project / "lines/6.12/expected.toml").write_text(toml("expected", tree="stock", **row))
    words = ("test", "--kernel", str(built))
    assert quire(*words, FAKE_QEMU="wrong").returncode == 1
    done = quire.passes(*words, "--stock", FAKE_QEMU="wrong")
    assert "1 expected" in done.stdout


@pytest.mark.parametrize(
    ("spoil", "text"),
    [
        (".config", "not a built kernel"),
        ("arch/arm64/boot/Image", "is not built"),
        ("usr/gen_init_cpio", "is not built"),
        ("CONFIG_VIRTIO_CONSOLE", "CONFIG_VIRTIO_CONSOLE"),
        ("CONFIG_ARM64", "an architecture that quire does not boot"),
    ],
)
def test_a_kernel_that_cannot_be_tested(quire: Quire, built: Path, spoil: str, text: str) -> None:
    config = built / ".config"
    if spoil.startswith("CONFIG"):
        config.write_text(config.read_text().replace(f"{spoil}=y", f"{spoil}=m"))
    else:
        (built / spoil).unlink()
    done = quire("test", "--kernel", str(built))
    assert done.returncode == 2
    assert text in done.stderr
    assert "remedy: " in done.stderr


@pytest.mark.parametrize("name", ARCHITECTURES)
def test_our_kernels_have_what_the_guest_needs(name: str) -> None:
    """So that the list asks for nothing that our own configuration lacks."""
    arch = ARCHITECTURES[name]
    found = kconfig.options(
        [ROOT / "lines/6.12/configs/common.config", ROOT / f"lines/6.12/configs/{name}.config"]
    )
    asked = {option: value for options in found for option, value in options.items()}
    # Options that follow from others are not in a fragment.
    implied = {"CONFIG_PROC_FS", "CONFIG_SYSFS", arch.option}
    assert {one for one in (*existing.OPTIONS, *arch.guest_options) if one not in asked} <= implied

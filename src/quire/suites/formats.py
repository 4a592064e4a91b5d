# SPDX-License-Identifier: GPL-2.0
"""Format test boots for CI systems: as JUnit XML, and as one KTAP report."""

import re
from collections.abc import Iterator, Sequence
from xml.etree import ElementTree
from xml.etree.ElementTree import Element, SubElement

from quire.boot.ktap import Status
from quire.suites.outcome import SKIPPED, Case, Outcome

# Characters that XML 1.0 forbids, even escaped.
_FORBIDDEN = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def junit(outcomes: Sequence[Outcome]) -> str:
    """Format as JUnit XML: a `testsuite` per boot, a `testcase` per case.

    An expected failure counts as skipped, and its message says why.
    """
    root = Element("testsuites", name="quire")
    for outcome in outcomes:
        root.append(_suite(outcome))
    for key in ("tests", "failures", "errors", "skipped"):
        root.set(key, str(sum(int(suite.get(key, "0")) for suite in root)))
    ElementTree.indent(root)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{ElementTree.tostring(root, "unicode")}\n'


def _suite(outcome: Outcome) -> Element:
    lost = 1 if outcome.lost else 0
    suite = Element(
        "testsuite",
        name=_clean(outcome.name),
        tests=str(len(outcome.cases) + lost),
        failures=str(len(outcome.failed)),
        errors=str(lost),
        skipped=str(outcome.count(*SKIPPED, Status.EXPECTED)),
    )
    if outcome.lost:
        boot = SubElement(suite, "testcase", classname=_clean(outcome.name), name="boot")
        text = _clean(outcome.lost.text())
        SubElement(boot, "error", message=text.partition("\n")[0], type="lost").text = text
    suite.extend(_testcase(case) for case in outcome.cases)
    return suite


def _testcase(case: Case) -> Element:
    classname, _, name = case.name.rpartition(".")
    element = Element("testcase", classname=_clean(classname or name), name=_clean(name))
    output = _clean("\n".join(case.diagnostics))
    if case.status is Status.FAIL:
        message = _clean(case.reason or "failed")
        SubElement(element, "failure", message=message, type="fail").text = output
    elif case.status in (*SKIPPED, Status.EXPECTED):
        prefix = "expected failure: " if case.status is Status.EXPECTED else ""
        SubElement(element, "skipped", message=_clean(prefix + case.reason))
        if output:
            SubElement(element, "system-out").text = output
    return element


def _clean(value: str) -> str:
    return _FORBIDDEN.sub("�", value)


def ktap(outcomes: Sequence[Outcome]) -> str:
    """Format as KTAP: a test per boot, its cases as subtests.

    An expected failure is `ok` with the directive XFAIL.
    """
    lines = ["KTAP version 1", f"1..{len(outcomes)}"]
    for number, outcome in enumerate(outcomes, 1):
        if outcome.lost:
            lines += [f"# {line}" for line in outcome.lost.text().splitlines()]
        else:
            lines += ["  KTAP version 1", f"  1..{len(outcome.cases)}"]
            for at, case in enumerate(outcome.cases, 1):
                lines += [f"  {line}" for line in _result(at, case)]
        verdict = "not ok" if outcome.lost or outcome.failed else "ok"
        lines.append(f"{verdict} {number} {outcome.name.replace('#', '-')}")
    return "\n".join(lines) + "\n"


def _result(number: int, case: Case) -> Iterator[str]:
    if case.status in (Status.FAIL, Status.EXPECTED):
        yield from (f"# {line}" for line in case.diagnostics)
    verdict = "not ok" if case.status is Status.FAIL else "ok"
    directive = ""
    if case.status in SKIPPED:
        directive = f" # SKIP {case.reason.removeprefix('SKIP ')}".rstrip()
    elif case.status is Status.EXPECTED:
        directive = f" # XFAIL {case.reason}"
    yield f"{verdict} {number} {case.name.replace('#', '-')}{directive}"

# SPDX-License-Identifier: GPL-2.0
"""JUnit XML of test boots, for other people's CI: a `testsuite` per boot, a `testcase` per case."""

from __future__ import annotations

import re
from collections.abc import Sequence
from xml.etree import ElementTree
from xml.etree.ElementTree import Element, SubElement

from quire.test.outcome import EXPECTED, FAIL, SKIP, Case, Outcome

# Characters that XML 1.0 cannot have, not even escaped.
_FORBIDDEN = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def text(outcomes: Sequence[Outcome]) -> str:
    """The document. A failure that is expected counts as skipped, and its message says why."""
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
        failures=str(outcome.count(FAIL)),
        errors=str(lost),
        skipped=str(outcome.count(SKIP, EXPECTED)),
    )
    if outcome.lost:
        case = SubElement(suite, "testcase", classname=_clean(outcome.name), name="boot")
        first = outcome.lost.partition("\n")[0]
        SubElement(case, "error", message=_clean(first), type="lost").text = _clean(outcome.lost)
    for each in outcome.cases:
        suite.append(_case(each))
    return suite


def _case(of: Case) -> Element:
    classname, _, name = of.name.rpartition(".")
    case = Element("testcase", classname=_clean(classname or name), name=_clean(name))
    told = _clean("\n".join(of.diagnostics))
    if of.status == FAIL:
        SubElement(case, "failure", message=_clean(of.reason or "failed"), type=FAIL).text = told
    elif of.status in (SKIP, EXPECTED):
        prefix = "expected failure: " if of.status == EXPECTED else ""
        SubElement(case, "skipped", message=_clean(prefix + of.reason))
        if told:
            SubElement(case, "system-out").text = told
    return case


def _clean(value: str) -> str:
    return _FORBIDDEN.sub("�", value)

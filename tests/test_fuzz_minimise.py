# SPDX-License-Identifier: GPL-2.0
"""The minimiser alone, on numbers instead of operations."""

from collections.abc import Callable, Sequence

from hypothesis import given
from hypothesis import strategies as st

from quire.fuzz.minimise import minimise, replace_each

Numbers = tuple[int, ...]


def oracle(happens: Callable[[Numbers], bool]) -> Callable[[Sequence[Numbers]], list[bool]]:
    return lambda candidates: [happens(candidate) for candidate in candidates]


@given(st.lists(st.integers(0, 40), min_size=1, max_size=40, unique=True), st.data())
def test_exactly_what_is_needed_is_left(items: list[int], data: st.DataObject) -> None:
    needed = data.draw(st.sets(st.sampled_from(items), min_size=1))
    left = minimise(tuple(items), oracle(lambda part: needed <= set(part)))
    assert set(left) == needed
    assert list(left) == [item for item in items if item in needed]


@given(st.lists(st.integers(0, 9), min_size=1, max_size=25))
def test_no_single_item_can_be_left_out(items: list[int]) -> None:
    def happens(part: Numbers) -> bool:
        return sum(part) % 3 == sum(items) % 3 and len(part) > 0

    left = minimise(tuple(items), oracle(happens))
    assert happens(left)
    if len(left) > 1:
        assert not any(happens(left[:n] + left[n + 1 :]) for n in range(len(left)))


def test_two_items_that_undo_each_other_go_together() -> None:
    def happens(part: Numbers) -> bool:
        return {1, 2, 3, 4} <= set(part) and (7 in part) == (8 in part)

    assert minimise((1, 7, 2, 3, 8, 4), oracle(happens)) == (1, 2, 3, 4)


def test_few_questions_are_asked() -> None:
    asked = []

    def happens(candidates: Sequence[Numbers]) -> list[bool]:
        asked.append(len(candidates))
        return [{3, 17} <= set(candidate) for candidate in candidates]

    assert minimise(tuple(range(32)), happens) == (3, 17)
    assert len(asked) <= 8


def test_forms_get_simpler_together() -> None:
    def happens(part: Numbers) -> bool:
        return part[0] >= 3 and part[1] + part[2] >= 5

    left = replace_each((100, 40, 50), lambda n: [n // 2, n - 1] if n else [], oracle(happens))
    assert left[0] == 3
    assert left[1] + left[2] == 5


def test_a_form_that_is_needed_stays() -> None:
    assert replace_each((7,), lambda n: [n - 1], oracle(lambda part: part == (7,))) == (7,)

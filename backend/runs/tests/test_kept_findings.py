"""What was found in a workspace is kept, and searched for by one thread."""

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from backend.errors import LoadsheetError
from backend.runs.database import kept_findings
from backend.runs.database.kept_findings import Findings
from backend.testing.waiting import wait_until

WITHIN_S = 60


class Clock:
    """Time that only searches pass."""

    def __init__(self, monkeypatch, search_s):
        self.now, self.searches, self.search_s = 1000.0, 0, search_s
        monkeypatch.setattr(kept_findings.time, "monotonic", lambda: self.now)
        monkeypatch.setattr(kept_findings.time, "thread_time", lambda: self.now)

    def search(self):
        self.searches += 1
        self.now += self.search_s
        return self.searches


def test_a_finding_stays_while_the_data_do(monkeypatch):
    clock, kept = Clock(monkeypatch, search_s=2), Findings(most=2)
    assert kept.get("a", 1, clock.search) == 1
    clock.now += 5_000
    assert kept.get("a", 1, clock.search) == 1
    assert kept.get("b", 1, clock.search) == 2


@pytest.mark.parametrize(("after_s", "searches"), [(39, 1), (41, 2)])
def test_what_was_costly_is_searched_for_less_often(monkeypatch, after_s, searches):
    clock, kept = Clock(monkeypatch, search_s=2), Findings(most=2)
    kept.get("a", 1, clock.search)
    clock.now += after_s
    assert kept.get("a", 2, clock.search) == searches


def test_what_was_deleted_is_gone_from_cheap_findings_at_once(monkeypatch):
    clock, kept = Clock(monkeypatch, search_s=0.2), Findings(most=2)
    kept.get("a", 1, clock.search)
    assert kept.get("a", 2, clock.search) == 2


def test_without_a_least_age_no_finding_is_of_other_data(monkeypatch):
    clock, kept = Clock(monkeypatch, search_s=2), Findings(most=2, least_age=0)
    kept.get("a", 1, clock.search)
    assert kept.get("a", 2, clock.search) == 2


def test_what_was_asked_for_longest_ago_goes_first(monkeypatch):
    clock, kept = Clock(monkeypatch, search_s=0), Findings(most=2)
    for question in ("a", "b", "a", "c"):
        kept.get(question, 1, clock.search)
    assert kept.get("a", 1, clock.search) == 1
    assert kept.get("b", 1, clock.search) == 4


class Search:
    """Goes on until it is let go; its first time it fails where it `fails`."""

    def __init__(self, *, fails=False):
        self.times, self.fails = 0, fails
        self.has_begun, self.may_end = threading.Event(), threading.Event()

    def __call__(self):
        self.times += 1
        self.has_begun.set()
        assert self.may_end.wait(WITHIN_S)
        if self.fails and self.times == 1:
            raise LoadsheetError
        return self.times


def ask_twice(kept, search):
    """Both ask before the first one has its answer."""
    slots = []
    with ThreadPoolExecutor(2) as pool:
        first, second = (
            pool.submit(kept.get, "a", 1, search, take_slot=lambda: slots.append(1))
            for _ in range(2)
        )
        assert search.has_begun.wait(WITHIN_S)
        assert wait_until(lambda: kept._changed._waiters, WITHIN_S, every_s=0.01)
        search.may_end.set()
    return first, second, slots


def test_of_two_that_ask_at_once_one_searches_and_takes_a_slot():
    first, second, slots = ask_twice(Findings(most=2), Search())
    assert first.result() == second.result() == 1
    assert slots == [1]


def test_where_the_search_fails_the_next_one_searches():
    answers = ask_twice(Findings(most=2), Search(fails=True))[:2]
    assert sorted(answer.exception() is None for answer in answers) == [False, True]
    assert [answer.result() for answer in answers if answer.exception() is None] == [2]


def test_nobody_waits_long_for_a_thread_that_waits_for_a_slot(monkeypatch):
    monkeypatch.setattr(kept_findings, "HEAD_START_S", 0.0)
    kept, slot, waits = Findings(most=2), threading.Event(), threading.Event()

    def wait_for_slot():
        waits.set()
        assert slot.wait(WITHIN_S)

    with ThreadPoolExecutor(1) as pool:
        late = pool.submit(kept.get, "a", 1, lambda: "late", take_slot=wait_for_slot)
        assert waits.wait(WITHIN_S)
        assert kept.get("a", 1, lambda: "early") == "early"
        slot.set()
        assert late.result() == "early"


def test_who_gets_no_slot_leaves_the_question_to_others():
    def refuse():
        raise LoadsheetError

    kept = Findings(most=2)
    with pytest.raises(LoadsheetError):
        kept.get("a", 1, lambda: 1, take_slot=refuse)
    assert kept.get("a", 1, lambda: 2) == 2


def test_what_weighs_too_much_together_goes_in_the_order_of_its_use():
    findings = Findings(most=10, weigh=len)
    for question, finding in (("a", "x" * 4), ("b", "x" * 4), ("a", ""), ("c", "x" * 5)):
        findings.get(question, 1, lambda finding=finding: finding)
    assert list(findings._kept) == ["a", "c"]
    # One alone is kept, however much it weighs.
    findings.get("d", 1, lambda: "x" * 99)
    assert list(findings._kept) == ["d"]

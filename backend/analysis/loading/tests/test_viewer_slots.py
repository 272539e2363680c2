"""Large answers: who is one viewer, and what others find taken."""

from contextlib import ExitStack

import pytest

from backend.accounts.workspace.access import VISITOR
from backend.analysis.loading.viewer_slots import (
    MEMBERS,
    VISITORS,
    AnswersBusy,
    TooManyAnswers,
    TooManyComparisons,
    comparison_slot,
    giving_slots_back,
    hold_slot,
)
from backend.untrusted.limits import REQUEST_THREADS
from backend.untrusted.sandbox import fair_slots
from backend.untrusted.sandbox.slots import LONG_WORK, PREVIEWS, SHORT_WORK, STRANGERS
from backend.untrusted.tests.test_slots import hold

MINE = "user:1"
STRANGER, SECOND, THIRD = (f"{VISITOR}{each}" for each in ("2001:db8:1::/48", "192.0.2.1", "x"))


def test_all_viewers_and_senders_of_files_leave_two_threads_free():
    every = (LONG_WORK, SHORT_WORK, PREVIEWS, STRANGERS, MEMBERS, VISITORS)
    assert sum(slots.places for slots in every) == REQUEST_THREADS - 2


@pytest.mark.parametrize(("slots", "viewer"), [(MEMBERS, MINE), (VISITORS, STRANGER)])
def test_one_viewer_is_refused_before_all_places_are_taken(slots, viewer, monkeypatch):
    monkeypatch.setattr(fair_slots, "PATIENCE_S", 0.0)
    with ExitStack() as stack:
        for _ in range(slots._running_of_owner):
            assert hold(slots, viewer, stack)
        assert not hold(slots, viewer, stack)
        assert hold(slots, f"{viewer} other", stack)


def test_visitors_take_no_slot_of_members(monkeypatch):
    monkeypatch.setattr(fair_slots, "PATIENCE_S", 0.0)
    with ExitStack() as stack:
        assert [hold(VISITORS, viewer, stack) for viewer in (STRANGER, SECOND, THIRD)] == [
            True,
            True,
            False,
        ]
        with pytest.raises(AnswersBusy), comparison_slot(THIRD):
            pass
        with comparison_slot(MINE):
            pass


def test_a_comparison_has_a_code_of_its_own(monkeypatch):
    monkeypatch.setattr(VISITORS, "of_owner", 0)
    with pytest.raises(TooManyComparisons), comparison_slot(STRANGER):
        pass
    with pytest.raises(TooManyAnswers) as refused, giving_slots_back():
        hold_slot(STRANGER)
    assert refused.type is TooManyAnswers


def test_an_answer_holds_one_slot_and_needs_no_other_for_its_comparisons():
    with giving_slots_back():
        hold_slot(MINE)
        hold_slot(MINE)
        with comparison_slot(MINE):
            assert MEMBERS._running == [MINE]
    assert not MEMBERS._running
    hold_slot("nobody is answered")
    assert not MEMBERS._running

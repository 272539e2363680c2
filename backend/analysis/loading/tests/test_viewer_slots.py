import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack

import pytest

from backend.accounts.people.access import VISITOR
from backend.analysis.loading import viewer_slots
from backend.analysis.loading.viewer_slots import (
    PLACES,
    PLACES_OF_VISITOR,
    RUNNING,
    VISITORS_PLACES,
    WAITING,
    AnswersBusy,
    TooManyComparisons,
    comparison_slot,
)
from backend.untrusted.limits import REQUEST_THREADS
from backend.untrusted.sandbox.slots import LONG_WORK, PREVIEWS, SHORT_WORK, STRANGERS

MINE, OTHER = "mine", "other"
PATIENCE_S = 120.0


@pytest.fixture
def held():
    """Every slot of one viewer is taken, and as many requests wait as may."""
    release, ready = threading.Event(), threading.Semaphore(0)

    def hold():
        with comparison_slot(MINE):
            ready.release()
            release.wait(PATIENCE_S)

    with ThreadPoolExecutor(RUNNING + WAITING) as pool:
        for _ in range(RUNNING + WAITING):
            pool.submit(hold)
        for _ in range(RUNNING):
            assert ready.acquire(timeout=PATIENCE_S)
        while viewer_slots._viewers[MINE].waiting < WAITING:
            threading.Event().wait(0.01)
        yield release
        release.set()


@pytest.fixture(autouse=True)
def patience(monkeypatch):
    monkeypatch.setattr(viewer_slots, "PATIENCE_S", PATIENCE_S)


def test_one_viewer_has_so_many_and_another_is_not_held_up(held):
    with pytest.raises(TooManyComparisons), comparison_slot(MINE):
        pass
    with comparison_slot(OTHER):
        pass


def test_all_viewers_and_senders_of_files_leave_two_threads_free():
    of_files = sum(slots.places for slots in (LONG_WORK, SHORT_WORK, PREVIEWS, STRANGERS))
    assert PLACES + of_files == REQUEST_THREADS - 2
    assert RUNNING + WAITING <= PLACES - 2
    viewers = [f"viewer {number // RUNNING}" for number in range(PLACES)]
    with ExitStack() as held:
        for viewer in viewers:
            held.enter_context(comparison_slot(viewer))
        with pytest.raises(AnswersBusy), comparison_slot(OTHER):
            pass
        with pytest.raises(AnswersBusy), comparison_slot(viewers[0]):
            pass
    assert not viewer_slots._viewers
    with comparison_slot(OTHER):
        pass


def test_a_viewer_who_has_all_of_a_viewer_is_told_so_where_all_places_are_taken(held):
    with comparison_slot(OTHER), comparison_slot(OTHER):
        with pytest.raises(TooManyComparisons), comparison_slot(MINE):
            pass
        with pytest.raises(AnswersBusy), comparison_slot("third"):
            pass


def test_who_waits_gets_the_next_slot_and_nothing_is_left(held):
    held.set()
    with comparison_slot(OTHER):
        pass
    while viewer_slots._viewers:
        threading.Event().wait(0.01)


def test_a_wait_without_end_is_refused(monkeypatch):
    monkeypatch.setattr(viewer_slots, "PATIENCE_S", 0.0)
    with (
        comparison_slot(MINE),
        comparison_slot(MINE),
        pytest.raises(TooManyComparisons),
        comparison_slot(MINE),
    ):
        pass
    assert not viewer_slots._viewers


def test_a_visitor_leaves_a_place_to_other_visitors():
    """Pages of share links are large answers: one stranger had all places that visitors have."""
    stranger, other = f"{VISITOR}2001:db8:1::/48", f"{VISITOR}192.0.2.1"
    with ExitStack() as held:
        for _ in range(PLACES_OF_VISITOR):
            held.enter_context(comparison_slot(stranger))
        with pytest.raises(TooManyComparisons), comparison_slot(stranger):
            pass
        held.enter_context(comparison_slot(other))
    assert not viewer_slots._viewers


def test_visitors_without_an_account_leave_places_to_members():
    """Strangers with addresses of many sites cannot take every place."""
    with ExitStack() as held:
        for number in range(VISITORS_PLACES):
            held.enter_context(comparison_slot(f"{VISITOR}2001:db8:{number}::/48"))
        with pytest.raises(AnswersBusy), comparison_slot(f"{VISITOR}192.0.2.1"):
            pass
        for number in range(PLACES - VISITORS_PLACES):
            held.enter_context(comparison_slot(f"user:{number}"))
    assert not viewer_slots._viewers

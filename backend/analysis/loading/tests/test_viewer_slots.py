import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from backend.analysis.loading import viewer_slots
from backend.analysis.loading.viewer_slots import (
    RUNNING,
    WAITING,
    TooManyComparisons,
    comparison_slot,
)

MINE, OTHER = "mine", "other"


@pytest.fixture
def held():
    """Every slot of one viewer is taken, and as many requests wait as may."""
    release, ready = threading.Event(), threading.Semaphore(0)

    def hold():
        with comparison_slot(MINE):
            ready.release()
            release.wait(30)

    with ThreadPoolExecutor(RUNNING + WAITING) as pool:
        for _ in range(RUNNING + WAITING):
            pool.submit(hold)
        for _ in range(RUNNING):
            assert ready.acquire(timeout=30)
        while viewer_slots._viewers[MINE].waiting < WAITING:
            threading.Event().wait(0.01)
        yield release
        release.set()


@pytest.fixture(autouse=True)
def patience(monkeypatch):
    monkeypatch.setattr(viewer_slots, "PATIENCE_S", 30.0)


def test_one_viewer_has_so_many_and_another_is_not_held_up(held):
    with pytest.raises(TooManyComparisons), comparison_slot(MINE):
        pass
    with comparison_slot(OTHER):
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

"""Slots for long work: few at a time, and none of one owner alone."""

import threading
import time
from contextlib import ExitStack

import pytest

from backend.untrusted.sandbox import fair_slots, slots
from backend.untrusted.sandbox.fair_slots import Busy, OwnerBusy, Slots
from backend.untrusted.sandbox.slots import short_or_long

# A busy machine may start a thread late: nobody waits so long who need not.
PATIENCE_S = 120.0


def in_threads(*works):
    """Run each in a thread of its own: a thread that holds a slot keeps it."""
    threads = [threading.Thread(target=work) for work in works]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def hold(places, owner, stack):
    """Take a slot in another thread, until the stack is closed."""
    is_taken, is_over = threading.Event(), threading.Event()
    refusals = []

    def work():
        try:
            with places.take(owner):
                is_taken.set()
                is_over.wait()
        except (Busy, OwnerBusy) as refusal:
            refusals.append(refusal)
            is_taken.set()

    thread = threading.Thread(target=work)
    thread.start()
    assert is_taken.wait(PATIENCE_S)
    stack.callback(thread.join)
    stack.callback(is_over.set)
    return not refusals


def test_an_owner_leaves_places_to_the_others(monkeypatch):
    monkeypatch.setattr(fair_slots, "PATIENCE_S", 0.0)
    places = Slots(running=3, waiting=0, of_owner=2)
    with ExitStack() as stack:
        assert [hold(places, "flood", stack) for _ in range(4)] == [True, True, False, False]
        assert hold(places, "other", stack)
    with ExitStack() as stack:
        assert hold(places, "flood", stack), "places are given back"
    assert not places._running


def test_an_owner_that_runs_waits_while_another_takes_the_free_slot():
    places = Slots(running=2, waiting=1, of_owner=2, running_of_owner=1)
    order = []

    def work():
        with places.take("flood"):
            order.append("flood")

    waiting = threading.Thread(target=work)
    with ExitStack() as stack:
        assert hold(places, "flood", stack)
        waiting.start()
        while not places._queue:
            time.sleep(0.001)
        with pytest.raises(OwnerBusy), places.take("flood"):
            pass
        with places.take("other"):
            order.append("other")
    waiting.join()
    assert order == ["other", "flood"]
    assert (places._running, places._queue) == ([], [])


def test_what_is_nobodys_may_take_every_slot(monkeypatch):
    monkeypatch.setattr(fair_slots, "PATIENCE_S", 0.0)
    places = Slots(running=2, waiting=1, of_owner=1, running_of_owner=1)
    with ExitStack() as stack:
        assert [hold(places, fair_slots.NOBODYS, stack) for _ in range(3)] == [True, True, False]


def test_who_waits_comes_next_though_another_owner_sends_on():
    places = Slots(running=1, waiting=2, of_owner=2)
    order = []

    def work(owner):
        with places.take(owner):
            order.append(owner)

    threads = [threading.Thread(target=work, args=[owner]) for owner in ("other", "flood")]
    with ExitStack() as stack:
        assert hold(places, "flood", stack)
        for thread in threads:
            thread.start()
            while len(places._queue) == threads.index(thread):
                time.sleep(0.001)
    for thread in threads:
        thread.join()
    assert order == ["other", "flood"]


def test_who_runs_work_gives_its_place_to_wait_to_who_runs_none(monkeypatch):
    monkeypatch.setattr(fair_slots, "PATIENCE_S", PATIENCE_S)
    places = Slots(running=2, waiting=1, of_owner=2, running_of_owner=1)
    results = []

    def work(owner):
        try:
            with places.take(owner):
                results.append(f"{owner} ran")
        except Busy:
            results.append(f"{owner} was sent away")

    flood = threading.Thread(target=work, args=["flood"])
    other = threading.Thread(target=work, args=["other"])
    with ExitStack() as stack:
        assert hold(places, "flood", stack)
        assert hold(places, "preview", stack)
        flood.start()
        while not places._queue:
            time.sleep(0.001)
        in_threads(lambda: work("preview"))
        assert results == ["preview was sent away"], "it runs work, as the one that waits does"
        other.start()
        flood.join(PATIENCE_S)
        assert results[1:] == ["flood was sent away"]
        in_threads(lambda: work("third"))
        assert results[2:] == ["third was sent away"], "the one that waits runs no work either"
    other.join()
    assert results[3:] == ["other ran"]
    assert (places._running, places._queue) == ([], [])


def test_who_had_the_last_turn_gives_its_place_to_wait_to_who_had_none(monkeypatch):
    """One person with many workspaces would have them all wait, and nobody else."""
    places = Slots(running=1, waiting=2, of_owner=1)
    for owner in ("first", "second"):
        with places.take(owner):
            pass
    results = []

    def work(owner):
        try:
            with places.take(owner):
                results.append(f"{owner} ran")
        except Busy:
            results.append(f"{owner} was sent away")

    threads = {
        name: threading.Thread(target=work, args=[name]) for name in ("first", "second", "new")
    }
    with ExitStack() as stack:
        assert hold(places, "third", stack)
        for waiting, name in enumerate(("first", "second"), 1):
            threads[name].start()
            while len(places._queue) < waiting:
                time.sleep(0.001)
        threads["new"].start()
        threads["second"].join(PATIENCE_S)
        assert results == ["second was sent away"], "it had the last turn"
    for name in ("first", "new"):
        threads[name].join(PATIENCE_S)
    assert results[1:] == ["first ran", "new ran"]


def test_what_is_nobodys_does_not_give_way_for_what_is_nobodys_too(monkeypatch):
    places = Slots(running=1, waiting=1)
    results = []

    def work(name):
        with places.take():
            results.append(name)

    waiting = threading.Thread(target=work, args=["first"])
    with ExitStack() as stack:
        assert hold(places, fair_slots.NOBODYS, stack)
        waiting.start()
        while not places._queue:
            time.sleep(0.001)
        with pytest.raises(Busy), places.take():
            pass
    waiting.join()
    assert results == ["first"]


def test_a_thread_keeps_its_slot_and_counts_once():
    places = Slots(running=1, waiting=0, of_owner=1)
    with places.take("mine"), places.take("mine"):
        assert places._running == ["mine"]
    assert not places._running


def test_short_work_takes_a_slot_of_long_work_where_its_own_are_taken(monkeypatch):
    monkeypatch.setattr(fair_slots, "PATIENCE_S", 0.0)
    monkeypatch.setattr(slots, "SHORT_WORK", Slots(running=1, waiting=0, of_owner=1))
    monkeypatch.setattr(slots, "LONG_WORK", Slots(running=1, waiting=0))
    results = []

    def work():
        with short_or_long("mine"):
            results.append("done")

    with ExitStack() as stack:
        assert hold(slots.SHORT_WORK, "mine", stack)
        in_threads(work)
        assert results == ["done"]
        assert hold(slots.LONG_WORK, None, stack)
        with pytest.raises(Busy), short_or_long("mine"):
            pass


def test_short_work_of_one_owner_takes_no_more_long_slots_than_its_long_work(monkeypatch):
    monkeypatch.setattr(fair_slots, "PATIENCE_S", 0.0)
    monkeypatch.setattr(slots, "SHORT_WORK", Slots(running=1, waiting=0))
    monkeypatch.setattr(slots, "LONG_WORK", Slots(running=2, waiting=0, running_of_owner=1))
    with ExitStack() as stack:
        assert hold(slots.SHORT_WORK, "flood", stack)
        assert hold(slots.LONG_WORK, "flood", stack)
        with pytest.raises(Busy), short_or_long("flood"):
            pass
        assert hold(slots.LONG_WORK, "other", stack)


def test_between_two_steps_of_long_work_each_other_owner_goes_first():
    places = Slots(running=1, waiting=3, of_owner=2, running_of_owner=1)
    order, may_go = [], threading.Event()

    def steps(owner, count):
        with places.take(owner):
            for number in range(count):
                if number:
                    places.let_others_go_first()
                order.append(owner)
                assert may_go.wait(PATIENCE_S)

    flood = [("flood", 3), ("flood", 1), ("other", 2), ("third", 1)]
    threads = [threading.Thread(target=steps, args=each) for each in flood]
    threads[0].start()
    while not order:
        time.sleep(0.001)
    for waiting, thread in enumerate(threads[1:], 1):
        thread.start()
        while len(places._queue) < waiting:
            time.sleep(0.001)
    may_go.set()
    for thread in threads:
        thread.join(PATIENCE_S)
    assert order[:4] == ["flood", "other", "third", "flood"]
    assert sorted(order) == ["flood"] * 4 + ["other"] * 2 + ["third"]
    assert (places._running, places._queue) == ([], [])


def test_who_has_begun_is_not_sent_away(monkeypatch):
    """The second request of an owner may run while the first one waits for its next step."""
    monkeypatch.setattr(fair_slots, "PATIENCE_S", 0.0)
    places = Slots(running=1, waiting=1)
    places._running.append("mine")
    begun = fair_slots._Ticket("mine", has_begun=True)
    places._queue.append(begun)
    with pytest.raises(Busy), places.take("other"):
        pass
    assert not begun.has_given_way


def test_alone_a_thread_goes_on_with_its_next_step():
    places = Slots(running=1, waiting=0)
    with places.take("mine"):
        assert places.let_others_go_first() == 0.0
        assert places._running == ["mine"]

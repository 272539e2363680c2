"""Whose request the next free thread takes."""

import asyncio
import random
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import pytest

from backend.config.serving.fair_threads import FairThreads


class Bench:
    """Threads, each of whose works goes on until it is told to end."""

    def __init__(self, count=2, most=20):
        self.threads = FairThreads(count, most)
        self.begun = []
        self._ends = {}

    def start(self, network, name):
        self._ends[name] = threading.Event()
        return asyncio.create_task(self.threads.run(network, self._work, name))

    def _work(self, name):
        self.begun.append(name)
        self._ends[name].wait(60)
        return name

    async def end(self, name, following):
        """`following`: what has begun once this is over."""
        self._ends[name].set()
        for _ in range(6000):
            if sorted(self.begun) == sorted(following):
                return
            await asyncio.sleep(0.01)
        raise AssertionError(self.begun)


def in_a_loop(act):
    """A browser of an earlier test leaves a loop running in this thread."""
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(asyncio.run, act).result()


def test_who_sends_much_waits_behind_their_own():
    async def act():
        bench = Bench()
        many = [bench.start("many", f"many {number}") for number in range(6)]
        await asyncio.sleep(0)
        few = bench.start("few", "few")
        late = bench.start("late", "late")
        await bench.end("many 0", ["many 0", "many 1", "few"])
        await bench.end("few", ["many 0", "many 1", "few", "late"])
        assert await few == "few"
        await bench.end("late", ["many 0", "many 1", "few", "late", "many 2"])
        for number in range(1, 6):
            bench._ends[f"many {number}"].set()
        assert await asyncio.gather(*many) == [f"many {number}" for number in range(6)]
        await late
        assert bench.threads._free == 2
        assert not bench.threads._at_work
        assert not bench.threads._waiting

    in_a_loop(act())


def test_one_network_has_few_threads_of_many():
    async def act():
        bench = Bench(20, 2)
        many = [bench.start("many", f"many {number}") for number in range(4)]
        few = bench.start("few", "few")
        await bench.end("few", ["many 0", "many 1", "few"])
        await bench.end("many 0", ["many 0", "many 1", "few", "many 2"])
        for number in range(1, 4):
            bench._ends[f"many {number}"].set()
        await asyncio.gather(*many, few)
        assert bench.threads._free == 20
        assert not bench.threads._waiting

    in_a_loop(act())


def test_who_goes_away_takes_no_thread_and_is_waited_for_in_one():
    async def act():
        bench = Bench()
        working = [bench.start("one", name) for name in ("a", "b")]
        waiting = bench.start("one", "c")
        await asyncio.sleep(0.01)
        waiting.cancel()
        working[0].cancel()
        for _ in range(3):
            await asyncio.sleep(0.01)
            assert waiting.cancelled()
            assert not working[0].done()
            working[0].cancel()
        await bench.end("a", ["a", "b"])
        with pytest.raises(asyncio.CancelledError):
            await working[0]
        await bench.end("b", ["a", "b"])
        assert await working[1] == "b"
        assert bench.threads._free == 2

    in_a_loop(act())


def test_who_goes_away_in_the_moment_in_which_a_thread_becomes_free_takes_none():
    async def act():
        for is_given_first in (False, True):
            threads = FairThreads(1, 1)
            await threads._turn("one")
            gone, following = (asyncio.create_task(threads._turn("one")) for _ in range(2))
            await asyncio.sleep(0)
            steps = [gone.cancel, partial(threads._end, "one")]
            for step in reversed(steps) if is_given_first else steps:
                step()
            await following
            assert gone.cancelled()
            threads._end("one")
            assert (threads._free, dict(threads._at_work), threads._waiting) == (1, {}, {})

    in_a_loop(act())


def test_one_network_leaves_threads_to_others():
    """All of one network may take long, and end together."""

    async def act():
        bench = Bench(5)
        many = [bench.start("many", f"many {number}") for number in range(9)]
        await asyncio.sleep(0.1)
        four = [f"many {number}" for number in range(4)]
        assert sorted(bench.begun) == four
        few = bench.start("few", "few")
        await bench.end("few", [*four, "few"])
        assert await few == "few"
        await bench.end("many 0", [*four, "few", "many 4"])
        for number in range(9):
            bench._ends[f"many {number}"].set()
        await asyncio.gather(*many)
        assert bench.threads._free == 5

    in_a_loop(act())


def test_among_many_networks_a_new_one_waits_for_a_round_at_most():
    """Each of as many networks as there are threads had one at work, and was next for ever."""

    async def act():
        threads, served = FairThreads(3, 3), []

        async def take(network):
            await threads._turn(network)
            served.append(network)

        busy = ["a", "b", "c", "d"]
        tasks = [asyncio.create_task(take(network)) for _ in range(20) for network in busy]
        await asyncio.sleep(0)
        tasks.append(asyncio.create_task(take("new")))
        await asyncio.sleep(0)
        for at in range(6):
            threads._end(served[at])
            await asyncio.sleep(0)
        assert "new" in served
        for task in tasks:
            task.cancel()

    in_a_loop(act())


def test_whoever_goes_away_whenever_all_threads_are_free_at_the_end():
    async def act():
        threads, choose = FairThreads(3, 3), random.Random(7)
        tasks = []
        for number in range(400):
            work = threads.run(f"network {number % 5}", time.sleep, choose.random() / 500)
            tasks.append(asyncio.create_task(work))
            if choose.random() < 0.7:
                await asyncio.sleep(choose.random() / 2000)
            choose.choice(tasks).cancel()
        await asyncio.wait(tasks)
        await asyncio.sleep(0.1)
        assert (threads._free, dict(threads._at_work), threads._waiting) == (3, {}, {})
        assert not [task for task in tasks if not task.cancelled() and task.exception()]

    in_a_loop(act())


def test_an_error_of_the_work_is_raised_and_frees_the_thread():
    async def act():
        threads = FairThreads(1, 1)
        for _ in range(3):
            with pytest.raises(ZeroDivisionError):
                await threads.run("one", lambda number: 1 // number, 0)
        assert threads._free == 1

    in_a_loop(act())

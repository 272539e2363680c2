"""What was found in the data of workspaces, kept in this process until those data change.

Of threads that ask the same, one searches and the others wait for it.
"""

import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Any, Generic, NamedTuple, TypeVar

T = TypeVar("T")
# A search that needs more CPU time of Python is not repeated with each result that comes in, but
# only after so many times what it needed.
CHEAP_S = 0.3
LEAST_AGE = 20
# So long others wait for a thread that waits for a slot: a viewer who has many requests waits long.
HEAD_START_S = 1.0


class _Kept(NamedTuple):
    """`until_s`: when it may be searched for again, by the monotonic clock, if the data changed."""

    data_version: Hashable
    until_s: float
    finding: Any


class Findings(Generic[T]):
    """The answers to questions, which weigh `most` together: those that were asked longest ago go
    first.

    After a search that was not cheap, an answer is kept for at least `least_age` times its CPU
    time; with 0, it is always of the data version that was asked for.
    """

    def __init__(
        self, *, most: int, least_age: float = LEAST_AGE, weigh: Callable[[T], int] = lambda _: 1
    ) -> None:
        self._most, self._least_age, self._weigh = most, least_age, weigh
        self._kept: OrderedDict[Hashable, _Kept] = OrderedDict()
        # The questions whose threads wait for a slot, and those that are searched for.
        self._entering: set[Hashable] = set()
        self._searched: set[Hashable] = set()
        self._changed = threading.Condition()

    def get(
        self,
        question: Hashable,
        data_version: Hashable,
        search: Callable[[], T],
        *,
        take_slot: Callable[[], object] = lambda: None,
    ) -> T:
        """The answer that is kept, else what `search` returns after `take_slot`.

        Raises what these raise.
        """
        kept = self._kept_or_begin(question, data_version, self._entering)
        if kept is None:
            try:
                take_slot()
            finally:
                self._end(question, self._entering)
            kept = self._kept_or_begin(question, data_version, self._searched)
        if kept is None:
            try:
                kept = self._search(question, data_version, search)
            finally:
                self._end(question, self._searched)
        finding: T = kept.finding
        return finding

    def _kept_or_begin(
        self, question: Hashable, data_version: Hashable, begun: set[Hashable]
    ) -> _Kept | None:
        """What is kept; None where this thread goes on, and its question is among the `begun`."""
        ends_s = time.monotonic() + HEAD_START_S
        with self._changed:
            while question in self._searched or (question in begun and time.monotonic() < ends_s):
                self._changed.wait(HEAD_START_S)
            kept = self._kept.get(question)
            if kept and (kept.data_version == data_version or time.monotonic() < kept.until_s):
                self._kept.move_to_end(question)
                return kept
            begun.add(question)
            return None

    def _end(self, question: Hashable, begun: set[Hashable]) -> None:
        with self._changed:
            begun.discard(question)
            self._changed.notify_all()

    def _search(self, question: Hashable, data_version: Hashable, search: Callable[[], T]) -> _Kept:
        began_s = time.thread_time()
        finding = search()
        used_s = time.thread_time() - began_s
        age_s = self._least_age * used_s if used_s > CHEAP_S else 0
        kept = _Kept(data_version, time.monotonic() + age_s, finding)
        with self._changed:
            self._kept[question] = kept
            self._kept.move_to_end(question)
            weight = sum(self._weigh(each.finding) for each in self._kept.values())
            while weight > self._most and len(self._kept) > 1:
                weight -= self._weigh(self._kept.popitem(last=False)[1].finding)
        return kept

    def forget(self) -> None:
        """Keep nothing of what was found."""
        with self._changed:
            self._kept.clear()

"""The threads that answer requests, shared fairly by networks.

A network has few of them, because all threads share one interpreter: whoever is answered beside
sixteen long requests gets a seventeenth of it. A fifth is for networks that have
none: they are answered at once, while whoever has one waits. The next free one goes to the network
that has the fewest, and among equals to each in turn. So who sends many requests at once waits
behind their own, and not in front of others.
"""

import asyncio
from collections import Counter, deque
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

Result = TypeVar("Result")


class FairThreads:
    """`count` threads, of which one network has `most`; used by one event loop."""

    def __init__(self, count: int, most: int) -> None:
        self._threads = ThreadPoolExecutor(count, thread_name_prefix="request")
        self._free, self._reserved = count, count // 5
        self._most = most
        self._at_work: Counter[str] = Counter()
        self._waiting: dict[str, deque[asyncio.Future[None]]] = {}

    async def run(self, network: str, work: Callable[[Any], Result], argument: Any) -> Result:
        """`work(argument)` in a thread. Who is cancelled while waiting for one takes none; else the
        thread is waited for, however often, because it uses what belongs to the request.
        """
        await self._turn(network)
        running = asyncio.get_running_loop().run_in_executor(self._threads, work, argument)
        running.add_done_callback(lambda _: self._end(network))
        cancelled = None
        while not running.done():
            try:
                await asyncio.wait([running])
            except asyncio.CancelledError as error:
                cancelled = error
        if cancelled is None:
            return running.result()
        running.exception()  # else the loop reports that nobody looked at it
        raise cancelled

    async def _turn(self, network: str) -> None:
        if self._may_begin(network):
            self._begin(network)
            return
        turn = asyncio.get_running_loop().create_future()
        self._waiting.setdefault(network, deque()).append(turn)
        try:
            await turn
        except asyncio.CancelledError:
            # `_end` passes over a turn that was cancelled. This one was given, and is given back.
            if not turn.cancelled():
                self._end(network)
            raise

    def _end(self, network: str) -> None:
        self._free += 1
        self._at_work[network] -= 1
        if not self._at_work[network]:
            del self._at_work[network]
        while self._waiting:
            following = min(self._waiting, key=self._at_work.__getitem__)
            if not self._may_begin(following):
                return
            # Of those that have as few, the next turn is another one's.
            queue = self._waiting.pop(following)
            turn = queue.popleft()
            if queue:
                self._waiting[following] = queue
            # Its task hears of a cancellation in the next round of the loop.
            if not turn.done():
                self._begin(following)
                turn.set_result(None)

    def _may_begin(self, network: str) -> bool:
        own = self._at_work[network]
        return own < self._most and self._free > (self._reserved if own else 0)

    def _begin(self, network: str) -> None:
        self._free -= 1
        self._at_work[network] += 1

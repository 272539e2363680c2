"""What weighttp prints before it starts: its version, and what each thread is to do."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from backend.formats.numbers import all_known, parse_count
from backend.formats.text import Line

BANNER = "simple webserver benchmarking tool"


@dataclass(frozen=True)
class Thread:
    """A thread: its number from 1, its concurrent requests, its requests in all."""

    number: int
    connections: int
    requests: int


@dataclass(frozen=True)
class Start:
    """The version, null before 0.4, and what was asked, null where a line is missing."""

    version: str | None = None
    threads: int | None = None
    connections: int | None = None
    requests: int | None = None

    @classmethod
    def of(cls, block: Sequence[Line]) -> Start:
        """What the lines of one run say."""
        version = next((_version(line) for line in block if is_banner(line)), None)
        threads = [thread for line in block if (thread := thread_of(line)) is not None]
        numbers = [thread.number for thread in threads]
        if not threads or numbers != list(range(1, len(threads) + 1)):
            return cls(version)
        return cls(
            version,
            len(threads),
            sum(thread.connections for thread in threads),
            sum(thread.requests for thread in threads),
        )

    def agreeing(self, *, at_least: int) -> Start:
        """Without the threads, where more requests were started than they were to do."""
        is_whole = self.requests is not None and self.requests >= at_least
        return self if is_whole else Start(self.version)


def is_banner(line: Line) -> bool:
    """Whether this is the line with weighttp's name."""
    return line.text.endswith(BANNER) and "weighttp" in line.words


def _version(line: Line) -> str | None:
    word = line.words[line.words.index("weighttp") + 1]
    return word if word[0].isdigit() else None


def thread_of(line: Line) -> Thread | None:
    """The thread of a line "spawning thread #1: 10 concurrent requests, 1000 total requests"."""
    if not line.text.startswith("spawning thread #"):
        return None
    words = line.words
    if len(words) != 9 or words[4:6] != ["concurrent", "requests,"] or words[8] != "requests":
        return None
    counts = all_known(map(parse_count, (words[2].strip("#:"), words[3], words[6])))
    return Thread(*counts) if counts else None

"""The line that siege --verbose prints for each response."""

from collections import Counter
from dataclasses import replace

import numpy as np

from backend.formats.model import ParsedTrial
from backend.formats.numbers import LONGEST_S, parse_number
from backend.formats.timeline import Gathering
from backend.formats.together import with_samples

# Two decimals of a second.
RESOLUTION_US = 10_000
KEPT = 1 << 16


class Hits:
    """The responses of one run."""

    def __init__(self) -> None:
        self.codes: Counter[str] = Counter()
        self._requests = Gathering()
        self._times_us: list[int] = []

    def add(self, text: str) -> bool:
        """Count a line if it is one of a response; says whether it was."""
        hit = _plain(text) or _separated(text)
        if hit is None:
            return False
        code, seconds = hit
        self.codes[code] += 1
        self._times_us.append(round(seconds * 1e6))
        if len(self._times_us) >= KEPT:
            self._flush()
        return True

    def _flush(self) -> None:
        self._requests.add(np.array(self._times_us, dtype=np.int64))
        self._times_us = []

    @property
    def count(self) -> int:
        return self.codes.total()

    @property
    def requests(self) -> Gathering:
        self._flush()
        return self._requests

    def count_below(self, status: int) -> int:
        """How many responses had a status below this one."""
        return sum(count for code, count in self.codes.items() if int(code) < status)


def _plain(text: str) -> tuple[str, float] | None:
    """Of "HTTP/1.1 200     0.01 secs:      40 bytes ==> GET  /", whatever stands before it."""
    before, _, after = text.partition(" secs:")
    if " bytes ==>" not in after:
        return None
    words = before.split()
    return _hit(*words[-3:]) if len(words) >= 3 else None


def _separated(text: str) -> tuple[str, float] | None:
    """Of "HTTP/1.1,200,  0.01,     40,/,0,2026-11-21 02:59:51", whatever stands before it."""
    if "HTTP/" not in text:
        return None
    cells = [cell.strip() for cell in text.split(",")]
    for at, cell in enumerate(cells[:-5]):
        if cell.rpartition(" ")[2].startswith("HTTP/") and cells[at + 3].isdigit():
            return _hit(cell.rpartition(" ")[2], cells[at + 1], cells[at + 2])
    return None


def _hit(protocol: str, code: str, seconds: str) -> tuple[str, float] | None:
    # "200(C)" came from siege's cache.
    code, time = code.removesuffix("(C)"), parse_number(seconds)
    if not protocol.startswith("HTTP/") or len(code) != 3 or not code.isdecimal():
        return None
    # With a comma it may be a decimal one.
    if time is None or time > LONGEST_S or "," in seconds or not code.isascii():
        return None
    return code, time


def with_hits(trial: ParsedTrial, hits: Hits) -> ParsedTrial:
    """The report's figures with the samples of its verbose lines."""
    if not hits.count:
        return trial
    ended, rows = hits.count_below(500), trial_of(hits)
    disagreements = []
    if trial.requests_completed is not None and ended != trial.requests_completed:
        disagreements.append(
            f"the report says {trial.requests_completed} transactions, "
            f"{ended} verbose lines have a status below 500"
        )
    sampled = with_samples(trial, rows, disagreements)
    if sampled.partial_samples:
        return sampled
    return replace(sampled, status_counts=rows.status_counts)


def trial_of(hits: Hits) -> ParsedTrial:
    """What the verbose lines say without a report."""
    ok = hits.count_below(400)
    return ParsedTrial(
        requests_completed=hits.count,
        requests_ok=ok,
        errors={"status": hits.count - ok},
        lists_answers_only=True,
        status_counts=dict(sorted(hits.codes.items())),
        extra={"format": "text"},
        **hits.requests.sampled(RESOLUTION_US),
    )

"""The tables of autocannon before version 3: columns between spaces, without boxes."""

from collections.abc import Iterator, Sequence
from itertools import pairwise

from backend.formats.numbers import parse_number
from backend.formats.text import Line

TITLES = ("Avg", "Stdev", "Max")
LATENCY, RATE, BYTES = "Latency (ms)", "Req/Sec", "Bytes/Sec"
PERCENTILES = "Percentile"


def plain_rows(block: Sequence[Line]) -> Iterator[list[str]]:
    """The rows as those of the boxes are: a name and its cells, each time and size with a unit."""
    in_percentiles = False
    for line in block:
        words = line.words
        in_percentiles = in_percentiles or words == [PERCENTILES, *LATENCY.split()]
        if in_percentiles and len(words) == 2 and parse_number(words[0]) is not None:
            yield words
        elif row := _row(line.text, words):
            yield row


def _row(text: str, words: list[str]) -> list[str]:
    """The cells of a line of the plain table; empty for a line that is no row."""
    if words == ["Stat", *TITLES] or words[:1] == [RATE]:
        return words
    if words == [PERCENTILES, *LATENCY.split()]:
        return [PERCENTILES, LATENCY]
    if text.startswith(LATENCY):
        return ["Latency", *(f"{word} ms" for word in words[2:])]
    if words[:1] == [BYTES]:
        # "2.13 MB 144.66 kB 2.36 MB"
        return [BYTES, *(f"{amount} {unit}" for amount, unit in list(pairwise(words[1:]))[::2])]
    return []

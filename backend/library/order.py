"""In which order the figures of a run of today stand, in sentences. Pure: no Django."""

import math
import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from backend.library.today import Figure, Row

# More servers than these are counted, not named.
MOST_NAMED = 3
# How two versions of a server compare, at the head of a sentence.
FASTER = "Faster in the current version than in the old"
SLOWER = "Slower in the current version than in the old"
OVERLAPPING = "Too close to say which version is faster"


class Candidate(NamedTuple):
    """One version of a server under one workload, with its highest figure."""

    name: str
    workload: str
    figure: Figure

    @property
    def title(self) -> str:
        """The workload at the head of a sentence."""
        return f"{self.workload[:1].upper()}{self.workload[1:]}:"

    @property
    def rate(self) -> str:
        """Such as "7,174 requests/s at 100 connections"."""
        return f"{self.figure.centre:,.0f} requests/s{self.figure.load}"

    @property
    def load_point(self) -> float | None:
        """The offered rate or the connections of its load; None where these are unknown."""
        number = re.search(r"\d[\d,]*", self.figure.load)
        return float(number[0].replace(",", "")) if number else None


class Sentence(NamedTuple):
    """A sentence, and the figure that it begins with where that leads a workload.

    `is_method`: it says how the figures were measured, and not what they are.
    """

    text: str
    leader: Candidate | None = None
    is_method: bool = False


class Twins(NamedTuple):
    """The old and the current version of a server under one workload and load."""

    name: str
    old: Figure
    current: Figure

    @property
    def outcome(self) -> str:
        if self.current.is_above(self.old):
            return FASTER
        return SLOWER if self.old.is_above(self.current) else OVERLAPPING

    @property
    def text(self) -> str:
        """Such as "Tornado, page 1.21×"; the name alone where no version is faster."""
        ratio = f" {ratio_text(self.current.centre / self.old.centre)}"
        return self.name + ("" if self.outcome == OVERLAPPING else ratio)


def order_sentences(rows: Sequence[Row]) -> Iterator[Sentence]:
    """The fastest of each workload, which versions differ, what is not ranked, and the rule."""
    workloads = list(_by_workload(rows))
    ranked = [[each for each in candidates if not each.figure.doubt] for candidates in workloads]
    for candidates, certain in zip(workloads, ranked, strict=True):
        if certain:
            text = _winner(certain, is_whole=len(certain) == len(candidates))
            yield Sentence(text, certain[0])
            yield from map(Sentence, _thriftiest(certain))
    yield from map(Sentence, _versions(rows))
    yield from map(Sentence, _doubts([each for candidates in workloads for each in candidates]))
    yield from _rule([each for candidates in ranked for each in candidates])


def highest_sentences(rows: Sequence[Row]) -> Iterator[Sentence]:
    """The highest figure of each workload, which is no verdict."""
    highest = [candidates[0] for candidates in _by_workload(rows)]
    if highest:
        figures = [f"{each.title} {each.name} with {each.rate}" for each in highest]
        yield Sentence(f"The highest figures are {'; '.join(figures)}.")


def _by_workload(rows: Sequence[Row]) -> Iterator[list[Candidate]]:
    """The candidates of each workload and loop that were measured today, the highest first.

    Open and closed loops apart: no server answers more than the rate that it is offered.
    """
    groups: dict[tuple[str, bool], list[Candidate]] = {}
    for row in rows:
        for figure in filter(None, (row.old, row.current)):
            name = f"{_server(row)} {figure.version}".strip()
            group = groups.setdefault((row.workload, figure.offered_rps is not None), [])
            group.append(Candidate(name, row.workload, figure))
    for _, candidates in sorted(groups.items(), key=lambda group: group[0]):
        yield sorted(candidates, key=lambda candidate: -candidate.figure.centre)


def _winner(ranked: Sequence[Candidate], *, is_whole: bool) -> str:
    """Who is the fastest under one workload. `is_whole`: no candidate was left out."""
    first, *rest = ranked
    keeping = [each.name for each in _keeping_the_rate(ranked)]
    overlapping = [each.name for each in rest if not first.figure.is_above(each.figure)]
    if len(keeping) > 1:
        rate = f"the highest offered rate, {first.figure.offered_rps:,.0f} requests/s"
        some = f"{len(keeping)} of {len(ranked)} versions keep {rate}: {_listed(keeping)}"
        all_ = f"{'both' if len(ranked) == 2 else f'all {len(ranked)} versions'} keep {rate}"
        return (
            f"{first.title} {all_ if len(keeping) == len(ranked) else some}. Which of them is the "
            "fastest was not measured: no higher rate was offered."
        )
    if not rest:
        state = "was measured" if is_whole else "is ranked"
        return f"{first.title} only {first.name} {state}, with {first.rate}."
    if not overlapping:
        return f"{first.title} {first.name} is the fastest, with {first.rate}."
    return (
        f"{first.title} {first.name} leads with {first.rate}, but its trials overlap those of "
        f"{_counted(overlapping)}."
    )


def _thriftiest(ranked: Sequence[Candidate]) -> Iterator[str]:
    """Who used the least and the most processor time, of those that keep the highest rate; nothing
    where the trials of these two overlap."""
    keeping = [each for each in _keeping_the_rate(ranked) if each.figure.cpu_us]
    if len(keeping) < 2:
        return
    first, *rest = sorted(keeping, key=lambda each: each.figure.mean_cpu_us)
    least_us, most_us = first.figure.mean_cpu_us, rest[-1].figure.mean_cpu_us
    alike = [each.name for each in rest if min(each.figure.cpu_us) <= max(first.figure.cpu_us)]
    if rest[-1].name in alike:
        return
    overlap = f"; its trials overlap those of {_counted(alike)}" if alike else ""
    yield (
        f"{first.title} {first.name} used the least processor time, {least_us:.0f} µs for a "
        f"request{overlap}. {rest[-1].name} used the most, {most_us:.0f} µs."
    )


def _keeping_the_rate(ranked: Sequence[Candidate]) -> list[Candidate]:
    """Those that keep the highest rate which was offered to any of them."""
    highest = max(candidate.figure.offered_rps or 0.0 for candidate in ranked)
    return [
        candidate
        for candidate in ranked
        if candidate.figure.keeps_rate and candidate.figure.offered_rps == highest
    ]


def _versions(rows: Sequence[Row]) -> Iterator[str]:
    """Old versions against current ones, each pair at one load."""
    pairs = list(_twins(rows))
    for outcome in (FASTER, SLOWER, OVERLAPPING):
        texts = [pair.text for pair in pairs if pair.outcome == outcome]
        if texts:
            yield f"{outcome}: {'; '.join(texts)}."


def _twins(rows: Sequence[Row]) -> Iterator[Twins]:
    """The pairs of versions that can be ranked. Two that keep the offered rate cannot.

    The workload is named where there are several.
    """
    is_only_workload = len({row.workload for row in rows}) == 1
    for row in rows:
        if row.twins is None or any(figure.doubt for figure in row.twins):
            continue
        if not all(figure.keeps_rate for figure in row.twins):
            workload = "" if is_only_workload else f", {row.workload}"
            yield Twins(f"{_server(row)}{workload}", *row.twins)


def _doubts(candidates: Sequence[Candidate]) -> Iterator[str]:
    """What is not ranked, with the reason."""
    doubts = [
        f"{each.name}, {each.workload} ({each.figure.doubt})"
        for each in candidates
        if each.figure.doubt
    ]
    if doubts:
        yield f"Not ranked: {'; '.join(doubts)}."


def _rule(ranked: Sequence[Candidate]) -> Iterator[Sentence]:
    """Of how many trials the figures are, and when a server is called faster."""
    counts = {len(each.figure.rates) for each in ranked if not each.figure.keeps_rate}
    if counts:
        yield Sentence(
            f"Each of these figures is the geometric mean of {_span(counts)} trials. A server or "
            "version is called faster than another where each of its trials is faster than each "
            "trial of the other.",
            is_method=True,
        )


def ratio_text(ratio: float) -> str:
    """Three digits, as the comparison prints them: `0.700×`, `1.04×`, `12.3×`, `1,230×`."""
    # 0.9996 has the digits of 1.00, to which it is rounded.
    rounded = float(f"{ratio:.3g}")
    decimals = 2 - math.floor(math.log10(rounded))
    return f"{rounded:,.{max(decimals, 0)}f}×"


def _server(row: Row) -> str:
    """The server with its settings in parentheses, as in "Gunicorn (sync)"."""
    name, _, settings = row.server.partition(", ")
    return f"{name} ({settings})" if settings else name


def _counted(names: Sequence[str]) -> str:
    """The names, or their number where they are many."""
    return _listed(names) if len(names) <= MOST_NAMED else f"{len(names)} others"


def _listed(names: Sequence[str]) -> str:
    """Such as "a, b and c"."""
    *before, last = names
    return f"{', '.join(before)} and {last}" if before else last


def _span(counts: set[int]) -> str:
    """`3`, or `3 to 5`."""
    low, high = min(counts), max(counts)
    return f"{low}" if low == high else f"{low} to {high}"

"""One row of a summary of HttpArena as a trial."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any

from backend.formats.model import Latency, ParsedTrial
from backend.formats.numbers import json_count, json_number, require_duration_us, step_us
from backend.formats.refusals import MOST_CONNECTIONS
from backend.formats.statuses import FINAL_CLASSES, failed, succeeded

ARCHIVE = "HttpArena"
# What every row has.
KEYS = ("framework", "rps", "avg_latency", "p99_latency", "connections", "duration")
# Rates are rounded, and some load tools stop a little late.
ROUNDED_SHARE = 0.1
LONGEST_NAME = 200


@dataclass(frozen=True, slots=True)
class Figures:
    """The printed figures of a row, times in µs and seconds."""

    rate_rps: float
    statuses: Mapping[str, int]
    duration_s: float
    mean_us: float
    p99_us: float

    @property
    def responses(self) -> int:
        return sum(self.statuses.values())

    @property
    def counted(self) -> int:
        """The responses that the rate counts: the successful ones or all, whichever fits it."""
        product = self.rate_rps * self.duration_s
        counts = (succeeded(self.statuses), self.responses)
        return min(counts, key=lambda count: abs(count - product))

    @property
    def is_rate_of_responses(self) -> bool:
        """Whether the counted responses give the rate, or would do so in a longer time."""
        return 0 < (1 - ROUNDED_SHARE) * self.rate_rps * self.duration_s <= self.counted

    @property
    def is_mean_copied(self) -> bool:
        return self.p99_us == self.mean_us

    def contradictions(self) -> Iterator[str]:
        """What the row contradicts itself in, as sentences."""
        if (self.rate_rps or self.counted) and not self.is_rate_of_responses:
            yield (
                f"{self.counted} responses in {self.duration_s:g} s are "
                f"{self.counted / self.duration_s:.6g} requests/s, but the printed rate is "
                f"{self.rate_rps:.6g}: it does not count responses."
            )
        elif self.counted > (1 + ROUNDED_SHARE) * self.rate_rps * self.duration_s:
            yield (
                f"{self.counted} responses at {self.rate_rps:.6g} requests/s take "
                f"{self.counted / self.rate_rps:.3g} s, but the printed duration is "
                f"{self.duration_s:g} s."
            )
        if self.counted < self.responses:
            yield (
                "The printed rate leaves out the responses with status 4xx or 5xx: "
                f"{failed(self.statuses)} of {self.responses}."
            )
        if self.is_mean_copied:
            yield (
                f"The printed p99 equals the mean, {self.mean_us / 1000:.6g} ms; p99 is unknown."
            )


def trial_of(row: Mapping[str, Any], file: str) -> ParsedTrial:
    """The trial of a row of a file. Raises ValueError or KeyError where it cannot be read."""
    connections, figures = _small(row, "connections"), _figures(row)
    test = _test_of(file, connections)
    return ParsedTrial(
        loop="closed",
        connections=connections,
        threads=_small(row, "threads") if "threads" in row else None,
        requested_duration_s=figures.duration_s,
        requests_completed=figures.responses,
        requests_ok=succeeded(figures.statuses),
        reported_rps=figures.rate_rps if figures.is_rate_of_responses else None,
        errors={"status": failed(figures.statuses)},
        status_counts={status: count for status, count in figures.statuses.items() if count},
        latency=_latency(figures),
        latency_origin="summary" if figures.is_mean_copied else "percentiles",
        latency_resolution_us=max(step_us(row[name]) or 1.0 for name in KEYS[2:4]),
        disagreements=tuple(figures.contradictions()),
        server=_server(row),
        workload={"name": test} if test else {},
        publication=_publication(test, connections),
    )


def _figures(row: Mapping[str, Any]) -> Figures:
    duration_s = require_duration_us(row["duration"]) / 1e6
    if not duration_s:
        raise ValueError("the duration 0 s")
    return Figures(
        rate_rps=json_number(row["rps"]),
        statuses={name: json_count(row[f"status_{name}"]) for name in FINAL_CLASSES},
        duration_s=duration_s,
        mean_us=require_duration_us(row["avg_latency"]),
        p99_us=require_duration_us(row["p99_latency"]),
    )


def _latency(figures: Figures) -> Latency:
    if figures.is_mean_copied:
        return Latency(mean_us=figures.mean_us)
    return Latency(mean_us=figures.mean_us, percentiles={"99": figures.p99_us})


def _server(row: Mapping[str, Any]) -> dict[str, Any]:
    server: dict[str, Any] = {"name": _text(row, "framework")}
    if row.get("language"):
        server["configuration"] = {"language": _text(row, "language")}
    return server


def _test_of(file: str, connections: int) -> str:
    """The test that the name of a file says; empty if it is not named as in the archive."""
    name = PurePosixPath(file).stem
    test = name.removesuffix(f"-{connections}")
    return test if test != name else ""


def _publication(test: str, connections: int) -> dict[str, str]:
    place = {"place": f"{test}-{connections}.json"} if test else {}
    return {"source": ARCHIVE, **place}


def _text(row: Mapping[str, Any], name: str) -> str:
    text = row[name]
    if not isinstance(text, str) or not text.strip() or not text.isprintable():
        raise ValueError(f"{name} is {str(text)[:40]!r}, not a name")
    if len(text) > LONGEST_NAME:
        raise ValueError(f"{name} has more than {LONGEST_NAME} characters")
    return text.strip()


def _small(row: Mapping[str, Any], name: str) -> int:
    count = json_count(row[name])
    if count > MOST_CONNECTIONS:
        raise ValueError(f"{name} is {count}, above {MOST_CONNECTIONS}")
    return count

"""What the same test says today: our own run of a study's plan, beside the published figures.

`studies/<name>/today.zip` holds the envelope and every output, as the agent kept them. To read them
takes seconds, so `today.json` beside it has the figures: `scripts/fix` writes
it. Pure: no Django.
"""

from __future__ import annotations

import contextlib
import io
import json
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from pathlib import Path
from statistics import geometric_mean, median
from typing import Any, NamedTuple

import msgspec

from backend.formats import FormatError, ParsedTrial, RawArtefact
from backend.library.study import Study, read_studies
from backend.library.trials import RATE, connections_text, load_text, parsed_trials, study_trials
from backend.runs.checks import CheckInput
from backend.runs.checks.machines import others_share
from backend.runs.measured.measured import error_rate
from backend.stats.thresholds import HIGH_ERROR_RATE, LEAST_TRIALS, REACHED_SHARE

FILE, FIGURES = "today.zip", "today.json"
ENVELOPE = "envelope.json"
CURRENT = ("current", "rest")
# Smaller shares are not printed. This judges nothing, so it is not HIGH_ERROR_RATE.
LEAST_PRINTED_FAILURE = 0.01
# Name of the server with its program, and of the workload.
Key = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Measured:
    """A run of today: its envelope, and the bytes of each output by name."""

    envelope: Mapping[str, Any]
    files: Mapping[str, bytes]

    @property
    def date(self) -> str:
        """The day of the run, such as 2026-11-22."""
        return str(self.envelope["run"]["started_at"])[:10]


@dataclass(frozen=True, slots=True)
class Figure:
    """Trials of one server and version under one load: their rates.

    `failed`: the highest share of failed attempts in one of them; None if it is unknown.
    `cpu_us`: microseconds of processor time that the server used for each completed request, of
    each trial; empty if one of them lacks it.
    """

    load: str
    version: str
    rates: tuple[float, ...]
    failed: float | None
    cpu_us: tuple[float, ...] = ()

    @property
    def centre(self) -> float:
        """The geometric mean of the rates."""
        return geometric_mean(self.rates)

    @property
    def mean_cpu_us(self) -> float:
        """The geometric mean of `cpu_us`, which must not be empty."""
        return geometric_mean(self.cpu_us)

    @property
    def offered_rps(self) -> float | None:
        """The offered rate of its load; None in a closed loop."""
        is_rate = self.load.startswith(RATE)
        return float(self.load.removeprefix(RATE).replace(",", "")) if is_rate else None

    @property
    def keeps_rate(self) -> bool:
        """Whether it is as high as its load lets it be, so that the server may be faster."""
        return self.centre >= REACHED_SHARE * self.offered_rps if self.offered_rps else False

    @property
    def doubt(self) -> str:
        """Why it is not ranked; empty if it is."""
        count, failed = len(self.rates), self.failed or 0.0
        if count < LEAST_TRIALS:
            return f"{count} trial{'' if count == 1 else 's'}"
        is_failing = failed > HIGH_ERROR_RATE
        return f"up to {failed * 100:.2g} % of the requests failed" if is_failing else ""

    def is_above(self, other: Figure) -> bool:
        """Whether each of its trials is above each trial of the other."""
        return min(self.rates) > max(other.rates)

    @property
    def text(self) -> str:
        """Such as "7,174 requests/s at 100 connections (0.3), 3 trials: 7,100 to 7,250"."""
        low, high, count = min(self.rates), max(self.rates), len(self.rates)
        span = f": {low:,.0f} to {high:,.0f}" if round(high) > round(low) else ""
        trials = f", {count} trials{span}" if count > 1 else ""
        share = self.failed or 0.0
        failed = f", up to {share:.0%} failed" if share >= LEAST_PRINTED_FAILURE else ""
        version = f" ({self.version})" if self.version else ""
        return f"{self.centre:,.0f} requests/s{self.load}{version}{trials}{failed}"


@dataclass(frozen=True, slots=True)
class Row:
    """A server under one workload: its highest figure then, in an old and in the current version.

    One of today that cannot be ranked stands only where there is no other.

    None: there is no figure. `twins`: an old and the current version at one load.
    """

    server: str
    workload: str
    then: Figure | None
    old: Figure | None
    current: Figure | None
    twins: tuple[Figure, Figure] | None = None

    @property
    def server_name(self) -> str:
        """The server without its settings."""
        return self.server.partition(", ")[0]


@dataclass(frozen=True, slots=True)
class Today:
    """The figures of a study's run of today, and of the machine it ran on.

    `load`: runnable processes before the run. `rows`: every server, by name. `others`: the share of
    the processors that other programs used, the median of the trials; None if the run lacks it.
    `lasted_s`: the shortest and the longest trial. `is_warm`: whether there were warm-ups.
    `same_host`: whether the load tool ran on the machine of the servers; None: unknown.
    """

    date: str
    cores: int | None
    load: float | None
    rows: tuple[Row, ...]
    others: float | None = None
    lasted_s: tuple[float, float] | None = None
    is_warm: bool = False
    same_host: bool | None = None


def find_today(study: Study) -> Measured | None:
    """The run of today of a study; None if it has none."""
    path = study.folder / FILE
    return read_measured(path.read_bytes()) if path.exists() else None


def read_measured(content: bytes) -> Measured:
    """The envelope and the outputs of a zip archive of ours."""
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        files = {name: archive.read(name) for name in archive.namelist()}
    return Measured(json.loads(files.pop(ENVELOPE)), files)


def rows_of(study: Study) -> tuple[Row, ...]:
    """Every server of the study's frozen runs and of today's run, by name; none without a run."""
    today = read_today(study)
    return () if today is None else today.rows


def read_today(study: Study) -> Today | None:
    """The figures of today; None for a study that was not measured again."""
    return _read(study.folder / FIGURES)


@cache
def _read(path: Path) -> Today | None:
    return msgspec.json.decode(path.read_bytes(), type=Today) if path.exists() else None


def compute_today(study: Study) -> Today | None:
    """The same, read from the outputs."""
    today = find_today(study)
    if today is None:
        return None
    then, old, current = _published(study), *_measured(today)
    keys = sorted({*then, *old, *current}, key=lambda key: (key[0].lower(), key[1]))
    host = today.envelope["hosts"]["client"]
    load = host["facts"].get("load_average_1m")
    rows = tuple(
        Row(
            *key,
            then=_highest(then.get(key, ())),
            old=_best(old.get(key, ())),
            current=_best(current.get(key, ())),
            twins=_twins(old.get(key, ()), current.get(key, ())),
        )
        for key in keys
    )
    return Today(
        *(today.date, host.get("cores"), load, rows, _others(today), _lasted_s(today)),
        is_warm=any(document["warmup"] for document in today.envelope["trials"]),
        same_host=today.envelope.get("same_host"),
    )


def write_today(study: Study) -> None:
    """Write the figures of the study beside its outputs."""
    content = msgspec.json.format(msgspec.json.encode(compute_today(study)), indent=1)
    (study.folder / FIGURES).write_bytes(content + b"\n")


def _highest(figures: Sequence[Figure]) -> Figure | None:
    return max(figures, key=lambda figure: figure.centre, default=None)


def _best(figures: Sequence[Figure]) -> Figure | None:
    """The highest of those that can be ranked; the highest of all where none can."""
    return _highest([figure for figure in figures if not figure.doubt] or figures)


def _twins(old: Sequence[Figure], current: Sequence[Figure]) -> tuple[Figure, Figure] | None:
    """An old and the current version at the highest load that both have."""
    pairs = [(a, b) for a in old for b in current if a.load == b.load]
    return pairs[-1] if pairs else None


def _published(study: Study) -> dict[Key, list[Figure]]:
    """Each run by itself: the machines of two runs differ."""
    figures: dict[Key, list[Figure]] = {}
    for run in study.runs:
        if run.frozen:
            trials = [
                Counted(_key(server, workload), load_text(trial), _version(server), trial)
                for server, workload, trial in study_trials(study, run)
            ]
            for key, group in _grouped(trials).items():
                figures.setdefault(key, []).extend(group)
    return figures


def _measured(today: Measured) -> tuple[dict[Key, list[Figure]], dict[Key, list[Figure]]]:
    """The figures of old versions, and those of current ones."""
    halves: tuple[list[Any], list[Any]] = ([], [])
    for document, trial in sorted(_trials(today), key=lambda pair: _amount(pair[0]["load"])):
        server, load = document["server"], document["load"]
        key, cpu_us = _key(server, document["workload"]), _cpu_us(document, trial)
        entry = Counted(key, _planned_load(load), _version(server), trial, cpu_us)
        is_current = (load.get("variant") or "").rpartition("@")[2] in CURRENT
        halves[is_current].append(entry)
    return _grouped(halves[0]), _grouped(halves[1])


def _counted(today: Measured) -> list[Mapping[str, Any]]:
    """What the envelope says of the counted trials that ended."""
    trials = today.envelope["trials"]
    return [trial for trial in trials if not trial["warmup"] and trial["error"] is None]


def _others(today: Measured) -> float | None:
    """The share of the processors that other programs used, as the check `other-programs` has it.

    A run that lacks the time of interrupts does not say it.
    """
    same_host = today.envelope.get("same_host")
    shares = [_others_beside(trial, same_host=same_host) for trial in _counted(today)]
    known = [share for share in shares if share is not None]
    return round(median(known), 4) if known else None


def _lasted_s(today: Measured) -> tuple[float, float] | None:
    """Seconds that the load tool ran, of the shortest and of the longest trial."""
    known = [document for document in _counted(today) if document.get("finished_at")]
    lasted = [_watched_s(document) for document in known]
    return (round(min(lasted), 2), round(max(lasted), 2)) if lasted else None


def _watched_s(document: Mapping[str, Any]) -> float:
    began, ended = (document["started_at"], document["finished_at"])
    return (datetime.fromisoformat(ended) - datetime.fromisoformat(began)).total_seconds()


def _others_beside(document: Mapping[str, Any], *, same_host: bool | None) -> float | None:
    resources = document.get("resources") or {}
    if resources.get("client_cpu_irq") is None:
        return None
    trial = CheckInput(
        same_host=same_host,
        client_core_shares=tuple(resources["client_cpu_per_core"] or ()),
        client_steal=resources["client_cpu_steal"],
        client_irq=resources["client_cpu_irq"],
        watched_s=_watched_s(document),
        client_cpu_s=resources["client_cpu_s"],
        server_cpu_s=resources["server_cpu_s"],
        services_cpu_s=resources.get("services_cpu_s", 0.0),
    )
    return others_share(trial)


def _trials(today: Measured) -> Iterator[tuple[Mapping[str, Any], ParsedTrial]]:
    """The counted trials that ended, each with what the envelope says of it."""
    for document in _counted(today):
        outputs = [RawArtefact.of(name, today.files[name]) for name in document["artefacts"]]
        # A load tool that was cut off by a hung server leaves no figures.
        with contextlib.suppress(FormatError):
            yield from [(document, trial) for trial in parsed_trials(outputs)]


class Counted(NamedTuple):
    """A trial and what it counts for. `cpu_us` as in Figure; None: unknown."""

    key: Key
    load: str
    version: str
    trial: ParsedTrial
    cpu_us: float | None = None


def _version(server: Mapping[str, Any]) -> str:
    return str(server.get("version") or "")


def _cpu_us(document: Mapping[str, Any], trial: ParsedTrial) -> float | None:
    spent_s = (document.get("resources") or {}).get("server_cpu_s")
    completed = trial.requests_completed
    return round(spent_s / completed * 1e6, 2) if spent_s and completed else None


def _grouped(trials: Sequence[Counted]) -> dict[Key, list[Figure]]:
    groups: dict[tuple[Key, str, str], list[Counted]] = {}
    for counted in trials:
        if counted.trial.reported_rps:
            groups.setdefault(counted[:3], []).append(counted)
    figures: dict[Key, list[Figure]] = {}
    for (key, load, version), alike in groups.items():
        figures.setdefault(key, []).append(_figure(load, version, alike))
    return figures


def _figure(load: str, version: str, alike: Sequence[Counted]) -> Figure:
    rates = tuple(float(each.trial.reported_rps or 0.0) for each in alike)
    shares = [_failed_share(each.trial) for each in alike]
    failed = max((share for share in shares if share is not None), default=None)
    cpu_us = tuple(each.cpu_us for each in alike if each.cpu_us is not None)
    return Figure(load, version, rates, failed, cpu_us if len(cpu_us) == len(alike) else ())


def _failed_share(trial: ParsedTrial) -> float | None:
    """Failed attempts ÷ attempts; None if the output does not tell what succeeded, or leaves out
    what got no answer."""
    if trial.lists_answers_only:
        return None
    return error_rate(trial.requests_completed, trial.requests_ok, trial.error_counts)


def _key(server: Mapping[str, Any], workload: Mapping[str, Any]) -> Key:
    settings = server.get("configuration") or {}
    worker = settings.get("worker") or settings.get("worker_class")
    resource = settings.get("resource")
    printed = "as printed" if settings.get("answers_before_reading") == "yes" else None
    parts = (server["name"], worker, resource, printed)
    return ", ".join(part for part in parts if part), str(workload.get("name") or "")


def _amount(load: Mapping[str, Any]) -> float:
    """The offered rate, else the number of connections."""
    return float(load.get("rate_rps") or load["connections_asked"])


def _planned_load(load: Mapping[str, Any]) -> str:
    if load.get("rate_rps") is not None:
        return f"{RATE}{load['rate_rps']:,.0f}"
    return connections_text(load["connections_asked"])


if __name__ == "__main__":
    for each in read_studies():
        write_today(each)

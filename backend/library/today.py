"""What the same test says today: our own run of a study's plan, beside the published figures.

`studies/<name>/today.zip` holds the envelope and every output, as the agent kept them. To read them
takes seconds, so `today.json` beside it has the figures: `python -m backend.library.today` writes
it. Pure: no Django.
"""

from __future__ import annotations

import contextlib
import io
import json
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from statistics import geometric_mean
from typing import Any

import msgspec

from backend.formats import FormatError, ParsedTrial, RawArtefact
from backend.library.study import Study, read_studies
from backend.library.trials import load_text, parsed_trials, study_trials
from backend.runs.attempts import error_rate

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

    `failed`: the highest share of failed attempts in one of them; None where it is unknown.
    """

    load: str
    version: str
    rates: tuple[float, ...]
    failed: float | None

    @property
    def centre(self) -> float:
        """The geometric mean of the rates."""
        return geometric_mean(self.rates)

    @property
    def text(self) -> str:
        """Such as "7,174 requests/s at 100 connections (0.3), 7,100 to 7,250"."""
        low, high = min(self.rates), max(self.rates)
        span = f", {low:,.0f} to {high:,.0f}" if round(high) > round(low) else ""
        share = self.failed or 0.0
        failed = f", up to {share:.0%} failed" if share >= LEAST_PRINTED_FAILURE else ""
        version = f" ({self.version})" if self.version else ""
        return f"{self.centre:,.0f} requests/s{self.load}{version}{span}{failed}"


@dataclass(frozen=True, slots=True)
class Row:
    """A server under one workload: its highest figure then, in an old and in the current version.

    None: there is no figure. `twins`: an old and the current version at one load.
    """

    server: str
    workload: str
    then: Figure | None
    old: Figure | None
    current: Figure | None
    twins: tuple[Figure, Figure] | None = None

    @property
    def today(self) -> Figure | None:
        """The higher of the figures of today."""
        measured = [figure for figure in (self.old, self.current) if figure is not None]
        return max(measured, key=lambda figure: figure.centre, default=None)


@dataclass(frozen=True, slots=True)
class Today:
    """The figures of a study's run of today, and of the machine it ran on.

    `load`: runnable processes beside the run. `rows`: every server, by name.
    """

    date: str
    cores: int | None
    load: float | None
    rows: tuple[Row, ...]


def find_today(study: Study) -> Measured | None:
    """The run of today of a study; None where it has none."""
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
            old=_highest(old.get(key, ())),
            current=_highest(current.get(key, ())),
            twins=_twins(old.get(key, ()), current.get(key, ())),
        )
        for key in keys
    )
    return Today(today.date, host.get("cores"), load, rows)


def write_today(study: Study) -> None:
    """Write the figures of the study beside its outputs."""
    content = msgspec.json.format(msgspec.json.encode(compute_today(study)), indent=1)
    (study.folder / FIGURES).write_bytes(content + b"\n")


def today_table(study: Study) -> Iterator[str]:
    """The lines of a Markdown table: then, an old version today, the current version today."""
    rows = rows_of(study)
    if not rows:
        return
    yield "| Server | Workload | As published | Old version today | Current version today |"
    yield "|---|---|---|---|---|"
    for row in rows:
        cells = [figure.text if figure else "–" for figure in (row.then, row.old, row.current)]
        yield f"| {row.server} | {row.workload} | {' | '.join(cells)} |"
    yield ""


def _highest(figures: Sequence[Figure]) -> Figure | None:
    return max(figures, key=lambda figure: figure.centre, default=None)


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
                (_key(server, workload), load_text(trial), str(server.get("version") or ""), trial)
                for server, workload, trial in study_trials(study, run)
            ]
            for key, group in _grouped(trials).items():
                figures.setdefault(key, []).extend(group)
    return figures


def _measured(today: Measured) -> tuple[dict[Key, list[Figure]], dict[Key, list[Figure]]]:
    """The figures of old versions, and those of current ones."""
    halves: tuple[list[Any], list[Any]] = ([], [])
    for document, trial in _trials(today):
        server, load = document["server"], document["load"]
        version = str(server.get("version") or "")
        entry = (_key(server, document["workload"]), _planned_load(load), version, trial)
        is_current = (load.get("variant") or "").rpartition("@")[2] in CURRENT
        halves[is_current].append(entry)
    return _grouped(halves[0]), _grouped(halves[1])


def _trials(today: Measured) -> Iterator[tuple[Mapping[str, Any], ParsedTrial]]:
    """The counted trials that ended, each with what the envelope says of it."""
    for document in today.envelope["trials"]:
        if document["warmup"] or document["error"] is not None:
            continue
        outputs = [RawArtefact.of(name, today.files[name]) for name in document["artefacts"]]
        # A load tool that was cut off by a hung server leaves no figures.
        with contextlib.suppress(FormatError):
            yield from [(document, trial) for trial in parsed_trials(outputs)]


def _grouped(
    trials: Sequence[tuple[Key, str, str, ParsedTrial]],
) -> dict[Key, list[Figure]]:
    groups: dict[tuple[Key, str, str], list[ParsedTrial]] = {}
    for key, load, version, trial in trials:
        if trial.reported_rps:
            groups.setdefault((key, load, version), []).append(trial)
    figures: dict[Key, list[Figure]] = {}
    for (key, load, version), alike in groups.items():
        rates = tuple(float(trial.reported_rps or 0.0) for trial in alike)
        shares = [share for share in map(_failed_share, alike) if share is not None]
        failed = max(shares, default=None)
        figures.setdefault(key, []).append(Figure(load, version, rates, failed))
    return figures


def _failed_share(trial: ParsedTrial) -> float | None:
    """Failed attempts ÷ attempts; None where the output does not tell what succeeded, or leaves out
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


def _planned_load(load: Mapping[str, Any]) -> str:
    if load.get("rate_rps") is not None:
        return f" at a rate of {load['rate_rps']:,.0f}"
    connections = load["connections_asked"]
    return f" at {connections:,} connection{'' if connections == 1 else 's'}"


if __name__ == "__main__":
    for each in read_studies():
        write_today(each)

"""Runs as rows, for tests of what reads them: built directly, without an upload."""

import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np
from django.db.models import F

from backend.accounts.models import Workspace
from backend.formats.model import UNANSWERED_CLASSES
from backend.formats.outcome import Outcome, outcome_by_class
from backend.runs.models import Cell, Host, Run, Server, Trial, Workload
from backend.runs.registry.identity import identity_of
from backend.runs.registry.registry import SeriesIdentity, register_series
from backend.stats import Histogram
from backend.stats.histogram import percentile_curve
from backend.stats.replicates import centre_of_run

STARTED = datetime(2026, 3, 2, 9, 30, tzinfo=UTC)
MACHINE = {"name": "bench-1", "cpu_model": "Xeon", "cores": 2, "kernel": "Linux 6.1"}
HELLO = {"name": "hello", "method": "GET", "path": "/", "payload_bytes": 13, "keepalive": True}


@dataclass(frozen=True, slots=True)
class CellSpec:
    """One cell to make: who, at which load, and the figures of its trials."""

    server: str = "sync"
    connections: int | None = 64
    rates: Sequence[float | None] = (1000.0, 1010.0, 990.0)
    version: str | None = "23.0"
    workload: Mapping[str, Any] = field(default_factory=lambda: dict(HELLO))
    tool: str = "wrk"
    tool_version: str | None = "4.1.0"
    loop: str = "closed"
    rate_rps: float | None = None
    error_rate: float | None = 0.0
    # Failed attempts of every trial by class, as in `errors` of a trial.
    errors: Mapping[str, int] = field(default_factory=dict)
    # What the server used in every trial: server_cpu_s, server_rss_bytes.
    resources: Mapping[str, float] = field(default_factory=dict)
    p50_us: float | None = 800.0
    # How many times its median the slowest response takes; above 2 the upper tenth is a tail.
    tail: float = 2.0
    # Whether every trial has its histogram, or only the tool's own percentiles.
    computed: bool = True
    checks: Sequence[str] = ()
    trial_checks: Sequence[str] = ()
    warmups: int = 1
    # Of the server, which trials of this cell share; None: each trial has a start of its own.
    starts: Sequence[int | None] | None = None
    configuration: Mapping[str, Any] = field(default_factory=dict)


def make_workspace(slug: str = "demo") -> Workspace:
    return Workspace.objects.get_or_create(slug=slug, defaults={"name": slug})[0]


def make_run(
    workspace: Workspace,
    *cells: CellSpec,
    host: Mapping[str, Any] | None = MACHINE,
    client: Mapping[str, Any] | None = None,
    same_host: bool | None = False,
    started_at: datetime | None = STARTED,
    in_turn: bool = True,
) -> Run:
    """A recorded run with these cells; the client is on the same host unless one is given.

    `in_turn`: whether the cells were measured in turn, or one after the other.
    """
    machine = None if host is None else _get(Host, workspace, host)
    run = Run.objects.create(
        id=uuid.uuid4(),
        workspace=workspace,
        server_host=machine,
        client_host=machine if client is None else _get(Host, workspace, client),
        same_host=same_host,
        started_at=started_at,
        finished_at=started_at,
    )
    for spec, turns in zip(cells, _turns(cells, in_turn=in_turn), strict=True):
        _make_cell(run, spec, turns)
    workspace.changed()
    return run


def _turns(cells: Sequence[CellSpec], *, in_turn: bool) -> list[list[int]]:
    """The places in the run of each cell's trials, of the warm-ups first."""
    trials = [
        (repeat, place)
        for place, spec in enumerate(cells)
        for repeat in range(spec.warmups + len(spec.rates))
    ]
    turns: list[list[int]] = [[] for _ in cells]
    for turn, (_, place) in enumerate(sorted(trials) if in_turn else trials):
        turns[place].append(turn)
    return turns


def let_a_minute_pass() -> None:
    """As if every run had become complete two minutes earlier: exports give it."""
    earlier = F("completed_at") - timedelta(minutes=2)
    Run.with_trash.update(completed_at=earlier)


def _get(model: Any, workspace: Workspace, fields: Mapping[str, Any]) -> Any:
    identity = identity_of(fields)
    row, _ = model.objects.get_or_create(
        workspace=workspace, identity=identity, defaults=dict(fields)
    )
    return row


def _make_cell(run: Run, spec: CellSpec, turns: Sequence[int]) -> None:
    server = _get(
        Server,
        run.workspace,
        {
            "name": spec.server,
            "version": spec.version,
            "configuration": dict(spec.configuration),
        },
    )
    workload = _get(Workload, run.workspace, spec.workload)
    identity = SeriesIdentity(
        server=server,
        workload=workload,
        server_host=run.server_host,
        client_host=run.client_host,
        tool=spec.tool,
        tool_version=spec.tool_version,
        loop=spec.loop,
    )
    cell = Cell.objects.create(
        run=run,
        workspace=run.workspace,
        series=register_series(run.workspace, [identity])[0],
        connections=spec.connections,
        rate_rps=spec.rate_rps,
        trial_count=sum(rate is not None for rate in spec.rates),
        throughput_rps=centre_of_run([rate for rate in spec.rates if rate is not None]),
        checks=[{"id": id_, "detail": f"{id_}."} for id_ in spec.checks],
    )
    trials = [_trial(cell, spec, 1.0, turns[n], warmup=True) for n in range(spec.warmups)]
    counted = _counted(cell, spec, turns[spec.warmups :])
    Trial.objects.bulk_create(trials + counted)
    if spec.computed and spec.p50_us is not None:
        _merge(cell, counted)


def _counted(cell: Cell, spec: CellSpec, turns: Sequence[int]) -> list[Trial]:
    trials = []
    for place, (rate, turn) in enumerate(zip(spec.rates, turns, strict=True)):
        trial = _trial(cell, spec, rate, turn)
        start = turn + 1 if spec.starts is None else spec.starts[place]
        trial.load = {} if start is None else {"start": start}
        trials.append(trial)
    return trials


def _trial(
    cell: Cell, spec: CellSpec, rate: float | None, ordinal: int, *, warmup: bool = False
) -> Trial:
    completed = None if rate is None else round(rate * 10)
    ok = None if completed is None or spec.error_rate is None else completed
    if ok is not None and spec.error_rate:
        ok = round(ok * (1 - spec.error_rate))
    outcome = _outcome(completed, ok, spec.errors)
    trial = Trial(
        run=cell.run,
        cell=cell,
        ordinal=ordinal,
        repeat=ordinal,
        warmup=warmup,
        command=["wrk", "-c", str(spec.connections), "http://127.0.0.1:8000/a b"],
        exit_code=0,
        elapsed_s=10.0,
        requests_completed=completed,
        requests_ok=ok,
        throughput_rps=rate,
        attempts=outcome.attempts,
        failed=outcome.failed,
        error_rate=spec.error_rate if rate is not None else None,
        errors=dict(spec.errors),
        resources=dict(spec.resources),
        checks=[{"id": id_, "detail": f"{id_}."} for id_ in spec.trial_checks],
    )
    if spec.p50_us is not None and rate is not None:
        _latency(trial, spec, spec.p50_us * 1000.0 / rate)
    return trial


def _outcome(completed: int | None, ok: int | None, errors: Mapping[str, int]) -> Outcome:
    return outcome_by_class(
        completed,
        ok,
        status=errors.get("status"),
        unanswered=[errors.get(name) for name in UNANSWERED_CLASSES],
        lists_answers_only=False,
    )


def _latency(trial: Trial, spec: CellSpec, p50_us: float) -> None:
    """Latencies evenly up to twice the median and their tail; or the tool's own two figures."""
    if not spec.computed:
        trial.percentiles_us = {"50": p50_us, "99": 2 * p50_us}
        trial.percentiles_origin = "reported"
        return
    samples = np.linspace(1, 2 * p50_us, 200)
    if spec.tail > 2:
        body = np.linspace(p50_us / 2, p50_us * 1.5, 1800)
        samples = np.concatenate([body, np.geomspace(p50_us * 1.5, p50_us * spec.tail, 200)])
    histogram = Histogram.from_samples(samples)
    trial.histogram = histogram.encode()
    trial.percentiles_us = _percentiles(histogram)
    trial.percentiles_origin = "computed"


def _percentiles(histogram: Histogram) -> dict[str, float | None]:
    return {name: histogram.percentile(float(name)) for name in ("50", "90", "99", "99.9")}


def _merge(cell: Cell, trials: Sequence[Trial]) -> None:
    encoded = [bytes(trial.histogram) for trial in trials if trial.histogram is not None]
    merged = Histogram.merge_all(Histogram.decode(histogram) for histogram in encoded)
    cell.histogram = merged.encode()
    cell.percentiles_us = _percentiles(merged)
    cell.curve = {"count": merged.count, "points": percentile_curve(merged)}
    cell.save(update_fields=["histogram", "percentiles_us", "curve"])

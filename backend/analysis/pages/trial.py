"""The figures of one trial as its page shows them, each with what it stands on."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from backend.formats.latency_steps import finest_step_us
from backend.formats.model import ERROR_CLASSES
from backend.runs.checks.check_input import time_text
from backend.runs.measured.measured import throughput_origin_of
from backend.runs.models import Trial

COMPLETED, OK, ELAPSED = "requests_completed", "requests_ok", "elapsed_s"
EXACT_ELAPSED = "exact_elapsed_s"


@dataclass(frozen=True, slots=True)
class Figure:
    """One figure. `kind` says how it is written (rate, time, seconds, ratio, count, bytes, text).

    `paths` name what the parser read that it stands on; `formula` how it was computed from that,
    empty if it is what was printed. An unknown value is None.
    """

    id: str
    label: str
    value: Any
    kind: str
    paths: tuple[str, ...] = ()
    formula: str = ""
    better: str = ""

    @property
    def is_known(self) -> bool:
        return self.value is not None


@dataclass(frozen=True, slots=True)
class FigureGroup:
    """Figures under one heading, with a sentence on where they come from."""

    id: str
    title: str
    figures: tuple[Figure, ...]
    note: str = ""


def list_trial_figures(trial: Trial) -> list[FigureGroup]:
    """Every figure of the trial by group; unknown ones are there as unknown."""
    groups = [
        FigureGroup("rates", "Rates and counts", tuple(_rates(trial)), _rate_note(trial)),
        FigureGroup("latency", "Latency", tuple(_latencies(trial)), _latency_note(trial)),
        FigureGroup("errors", "Errors by class", tuple(_errors(trial))),
        FigureGroup("tool-errors", "Errors as the tool names them", tuple(_tool_errors(trial))),
        FigureGroup("status", "Answers by status", tuple(_statuses(trial))),
        FigureGroup("asked", "Requested load, as printed in the output", tuple(_asked(trial))),
    ]
    return [group for group in groups if group.figures]


def list_reading_notes(parsed: Mapping[str, Any]) -> list[str]:
    """What a reader of the raw output should know: what was removed, and which lines are its."""
    first, last = parsed.get("lines") or (None, None)
    lines = [] if first is None else [f"This trial was read from lines {first} to {last}."]
    return [*parsed.get("notes", ()), *lines]


def _rates(trial: Trial) -> Iterator[Figure]:
    warm = ("warmup_s",) if trial.parsed.get("warmup_s") else ()
    elapsed = EXACT_ELAPSED if EXACT_ELAPSED in trial.parsed else ELAPSED
    counted = (COMPLETED, elapsed, *warm)
    is_reported = throughput_origin_of(trial) == "reported"
    yield Figure(
        "throughput", "Throughput", trial.throughput_rps, "rate",
        ("reported_rps",) if is_reported else counted,
        "" if is_reported else "completed ÷ elapsed", "higher",
    )  # fmt: skip
    yield Figure(
        "goodput", "Goodput", trial.goodput_rps, "rate", (OK, elapsed, *warm),
        "successful ÷ elapsed", "higher",
    )  # fmt: skip
    yield Figure(
        "reported", "Rate printed by the tool", trial.reported_rps, "rate", ("reported_rps",)
    )
    yield Figure("completed", "Requests completed", trial.requests_completed, "count", (COMPLETED,))
    yield Figure("ok", "Requests successful", trial.requests_ok, "count", (OK,))
    yield Figure(
        "elapsed", "Time measured", trial.elapsed_s, "seconds", (elapsed, *warm),
        _elapsed_formula(elapsed, has_warmup=bool(warm)),
    )  # fmt: skip
    yield Figure("bytes", "Bytes received", trial.bytes_received, "bytes", ("bytes_received",))


def _rate_note(trial: Trial) -> str:
    if throughput_origin_of(trial) != "reported":
        return ""
    tool = trial.cell.series.tool
    return f"Throughput as {tool} reports it: its output lacks a count or the elapsed time."


def _elapsed_formula(path: str, *, has_warmup: bool) -> str:
    # The tool prints its rate with more digits than the time from which it computed the rate.
    formula = "count ÷ printed rate" if path == EXACT_ELAPSED else ""
    if not has_warmup:
        return formula
    return f"{formula or 'elapsed'} − warm-up"


def _latencies(trial: Trial) -> Iterator[Figure]:
    computed = trial.percentiles_origin == "computed"
    for name, value in (
        ("mean", trial.latency_mean_us),
        ("min", trial.latency_min_us),
        ("max", trial.latency_max_us),
    ):
        label = {"mean": "Mean", "min": "Minimum", "max": "Maximum"}[name]
        yield _latency(f"latency-{name}", label, value, name, computed=computed)
    for name, value in sorted(trial.percentiles_us.items(), key=lambda item: float(item[0])):
        path = f"percentiles.{name}"
        yield _latency(f"p{name.replace('.', '-')}", f"p{name}", value, path, computed=computed)


def _latency(id_: str, label: str, value: Any, path: str, *, computed: bool) -> Figure:
    if computed:
        formula = "" if value is None else "from the distribution"
        return Figure(id_, label, value, "time", ("histogram",), formula, "lower")
    return Figure(id_, label, value, "time", (f"latency_us.{path}",), better="lower")


def _latency_note(trial: Trial) -> str:
    origin = {
        "computed": "Computed by Loadsheet from the distribution in the output.",
        "reported": "Reported: the tool's own figures, which cannot be merged with others.",
    }.get(trial.percentiles_origin or "", "The output has no percentiles.")
    step = trial.latency_resolution_us
    if step is None:
        return origin
    if trial.percentiles_origin != "computed":
        tool, median_us = trial.cell.series.tool, trial.percentiles_us.get("50")
        step = finest_step_us(tool, step, (median_us, trial.latency_mean_us)) or step
    return f"{origin} The tool rounds latency to {time_text(step)}."


def _errors(trial: Trial) -> Iterator[Figure]:
    yield Figure(
        "error-rate", "Error rate", trial.error_rate, "ratio", ("error_rate",),
        "failed attempts ÷ attempts", "lower",
    )  # fmt: skip
    yield Figure("attempts", "Attempts", trial.attempts, "count", ("attempts",))
    yield Figure("failed", "Attempts failed", trial.failed, "count", ("failed",), "", "lower")
    for name in ERROR_CLASSES:
        yield Figure(
            f"error-{name}", name.capitalize(), trial.errors.get(name), "count", (f"errors.{name}",)
        )


def _tool_errors(trial: Trial) -> Iterator[Figure]:
    yield from _counts("tool-error", "tool_errors", trial.tool_errors)


def _statuses(trial: Trial) -> Iterator[Figure]:
    yield from _counts("status", "status_counts", trial.status_counts or {})


def _counts(prefix: str, path: str, counts: Mapping[str, Any]) -> Iterator[Figure]:
    for position, (name, value) in enumerate(counts.items()):
        yield Figure(f"{prefix}-{position}", name, value, "count", (f"{path}.{name}",))


_ASKED: Sequence[tuple[str, str, str]] = (
    ("tool_version", "Tool version", "text"),
    ("url", "Address", "text"),
    ("loop", "Loop", "text"),
    ("connections", "Connections", "count"),
    ("threads", "Threads", "count"),
    ("requested_rate_rps", "Offered rate", "rate"),
    ("requested_requests", "Requests asked for", "count"),
    ("requested_duration_s", "Time asked for", "seconds"),
    ("keepalive", "Keep-alive", "text"),
)


def _asked(trial: Trial) -> Iterator[Figure]:
    for path, label, kind in _ASKED:
        value = trial.parsed.get(path)
        if value is not None:
            yield Figure(path.replace("_", "-"), label, value, kind, (path,))

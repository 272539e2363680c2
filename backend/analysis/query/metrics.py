"""The metrics of a comparison: what each is called, its unit, and how a trial's value is read."""

from collections.abc import Callable
from dataclasses import dataclass
from math import inf
from operator import attrgetter
from typing import TypeGuard

from backend.analysis import figures
from backend.analysis.figures import Group
from backend.analysis.query.records import LoadedTrial
from backend.analysis.record import record_of
from backend.formats.model import ERROR_CLASSES
from backend.stats import Better
from backend.stats.histogram import STORED_PERCENTILES


@dataclass(frozen=True, slots=True)
class Metric:
    """One figure of a point.

    `percentile`: the key of the stored percentiles it is read from, for those that are one.
    `columns`: what must be loaded of a trial beyond the columns that always are.
    """

    id: str
    label: str
    unit: str
    better: Better
    group: Group
    read: Callable[[LoadedTrial], float | None]
    columns: tuple[str, ...] = ()
    percentile: str | None = None


# Such columns of a trial, and that of its cell.
_OFFERED = ("cell__rate_rps",)
_RECEIVED = ("bytes_received", "elapsed_s")
_RESOURCES = ("resources",)
# The resource use that metrics read.
RESOURCE_FIGURES = ("server_cpu_s", "server_rss_bytes")
_RESOURCES_AND_TIME = ("resources", "elapsed_s")


def _of_column(
    id_: str, label: str, unit: str, better: Better, group: Group, column: str
) -> Metric:
    """The metric that is a column of its own."""
    return Metric(id_, label, unit, better, group, lambda t: t.more.get(column), (column,))


def _percentile(key: str) -> Metric:
    def read(trial: LoadedTrial) -> float | None:
        return trial.percentiles_us.get(key)

    return Metric(f"p{key}", f"Latency p{key}", "us", "lower", "latency", read, percentile=key)


def _achieved(trial: LoadedTrial) -> float | None:
    offered = trial.more.get("cell__rate_rps")
    return trial.throughput_rps / offered if offered and trial.throughput_rps is not None else None


def _transfer(trial: LoadedTrial) -> float | None:
    received, elapsed_s = trial.more.get("bytes_received"), trial.more.get("elapsed_s")
    return received / elapsed_s if received is not None and elapsed_s else None


def is_amount(value: object) -> TypeGuard[int | float]:
    """Whether what an agent sent is an amount: no use of anything is below nothing."""
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < inf


def _number(trial: LoadedTrial, name: str) -> float | None:
    value = (trial.more.get("resources") or {}).get(name)
    return float(value) if is_amount(value) else None


def _memory(trial: LoadedTrial) -> float | None:
    return _number(trial, "server_rss_bytes")


def _cores_used(trial: LoadedTrial) -> float | None:
    spent, elapsed_s = _number(trial, "server_cpu_s"), trial.more.get("elapsed_s")
    return spent / elapsed_s if spent is not None and elapsed_s else None


def _cost(trial: LoadedTrial) -> float | None:
    spent, completed = _number(trial, "server_cpu_s"), trial.requests_completed
    return 1000 * spent / completed if spent is not None and completed else None


def _error_class(name: str) -> Metric:
    def read(trial: LoadedTrial) -> float | None:
        count, made = trial.errors.get(name), trial.attempts
        return None if count is None or made is None else min(1.0, count / made[1])

    label = f"Errors: {name}"
    return Metric(f"error_{name}", label, "ratio", "lower", "errors", read)


METRICS = {
    metric.id: metric
    for metric in (
        Metric("throughput", "Throughput", "req/s", "higher", "rate", attrgetter("throughput_rps")),
        _of_column("goodput", "Goodput", "req/s", "higher", "rate", "goodput_rps"),
        Metric("achieved", "Achieved of offered", "ratio", "higher", "rate", _achieved, _OFFERED),
        Metric("transfer", "Transfer rate", "bytes/s", "higher", "rate", _transfer, _RECEIVED),
        _of_column("mean", "Latency mean", "us", "lower", "latency", "latency_mean_us"),
        *(_percentile(key) for key in STORED_PERCENTILES),
        _of_column("max", "Latency max", "us", "lower", "latency", "latency_max_us"),
        Metric("error_rate", "Error rate", "ratio", "lower", "errors", attrgetter("error_rate")),
        *(_error_class(name) for name in ERROR_CLASSES),
        Metric(
            "cpu", "Server CPU", "cores", "lower", "resources", _cores_used, _RESOURCES_AND_TIME
        ),
        Metric("memory", "Server memory", "bytes", "lower", "resources", _memory, _RESOURCES),
        Metric(
            "cpu_per_1k", "CPU per 1,000 requests", "s", "lower", "resources", _cost, _RESOURCES
        ),
    )
}
# As they stand in every answer.
METRIC_RECORDS = tuple(record_of(figures.Metric, metric) for metric in METRICS.values())
# Those made of a trial's throughput, which may be the tool's own rate.
THROUGHPUT_METRICS = ("throughput", "achieved")
# The two that say whether a server is fast enough, and which metrics say how much it serves.
RATE, TAIL = "throughput", "p99"
RATES = (RATE, "goodput")
# In every answer: what the page draws side by side.
CORE = (RATE, "p50", TAIL, "error_rate")


def shown(asked: str) -> tuple[str, ...]:
    """The metrics of an answer: the core and the asked one."""
    return CORE if asked in CORE else (*CORE, asked)

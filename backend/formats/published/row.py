"""One row of a published table as a trial."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from backend.formats.model import Latency, ParsedTrial
from backend.formats.numbers import require_count, require_number, step_us
from backend.formats.refusals import MOST_CONNECTIONS

SETTING = "setting:"
KIB = 1024
# Rates of a publication are rounded, and some count 1,000 bytes as a kilobyte.
ROUNDED_SHARE = 0.1
LONGEST_NAME, LONGEST_PATH, LONGEST_TOOL = 200, 2000, 80
SERVER = ("server", "version", "runtime")
WORKLOAD = ("workload", "method", "path", "payload_bytes", "keepalive")
LOAD = ("loop", "connections", "threads", "rate_rps", "duration_s", "requests_asked")
FIGURES = (
    *("throughput_rps", "mean_ms", "min_ms", "max_ms"),
    *("requests", "errors", "elapsed_s", "transfer_kib_s"),
)
COLUMNS = (*SERVER, *WORKLOAD, *LOAD, *FIGURES, "place")
LOOPS = ("open", "closed")
ANSWERS = {"yes": True, "no": False}


@dataclass(frozen=True, slots=True)
class Publication:
    """Where the figures come from. `published`: ISO 8601, as exact as it is known."""

    source: str
    published: str
    tool: str | None = None

    def at(self, place: str | None) -> dict[str, str]:
        """The publication with the page or line of one row."""
        texts = {"source": self.source, "published": self.published, "place": place or ""}
        return {name: text for name, text in texts.items() if text}


def trial_of(fields: Mapping[str, str], publication: Publication) -> ParsedTrial:
    """The trial of a row. Raises ValueError or KeyError where a field cannot be read."""
    _check_lengths(fields)
    latency = _latency(fields)
    if not fields.keys() & {*FIGURES} and not latency.percentiles:
        raise ValueError("no figure in the row")
    completed, errors = _count(fields, "requests"), _count(fields, "errors")
    transfer_kib_s = _number(fields, "transfer_kib_s")
    return ParsedTrial(
        tool_version=publication.tool,
        loop=_loop(fields),
        connections=_small(fields, "connections"),
        threads=_small(fields, "threads"),
        requested_rate_rps=_number(fields, "rate_rps"),
        requested_requests=_count(fields, "requests_asked"),
        requested_duration_s=_number(fields, "duration_s"),
        keepalive=_answer(fields, "keepalive"),
        elapsed_s=_number(fields, "elapsed_s"),
        requests_completed=completed,
        requests_ok=None if errors is None else completed,
        attempts=None if completed is None else completed + (errors or 0),
        failed=errors,
        reported_rps=_number(fields, "throughput_rps"),
        transfer_rate_bytes_s=None if transfer_kib_s is None else transfer_kib_s * KIB,
        errors={} if errors is None else {"other": errors},
        latency=latency,
        latency_origin="percentiles" if latency.percentiles else None,
        latency_resolution_us=_step_us(fields),
        disagreements=tuple(_disagreements(fields)),
        server=_server(fields),
        workload=_workload(fields),
        publication=publication.at(fields.get("place")),
    )


def _disagreements(fields: Mapping[str, str]) -> Iterator[str]:
    """A transfer rate that is too low for the responses: the bodies alone need more."""
    rate, size = _number(fields, "throughput_rps"), _count(fields, "payload_bytes")
    transfer_kib_s = _number(fields, "transfer_kib_s")
    if rate is None or size is None or transfer_kib_s is None or fields.get("method") == "HEAD":
        return
    least_kib_s = rate * size / KIB
    if transfer_kib_s < (1 - ROUNDED_SHARE) * least_kib_s:
        yield (
            f"{rate:.6g} requests/s of {size} bytes are {least_kib_s:.0f} KiB/s, "
            f"but the transfer rate is {transfer_kib_s:.6g} KiB/s."
        )


def _loop(fields: Mapping[str, str]) -> str | None:
    loop = fields.get("loop")
    if loop is not None and loop not in LOOPS:
        raise ValueError(f"the loop {loop}, not {' or '.join(LOOPS)}")
    if loop is None and "rate_rps" in fields:
        return "open"
    return loop or ("closed" if "connections" in fields else None)


def _latency(fields: Mapping[str, str]) -> Latency:
    percentiles = {
        name[1:].removesuffix("_ms"): require_number(text) * 1000
        for name, text in fields.items()
        if name[:1] == "p" and name[1:2].isdigit()
    }
    ordered = [percentiles[name] for name in sorted(percentiles, key=float)]
    if ordered != sorted(ordered):
        raise ValueError("percentiles that fall")
    mean, least, most = (_us(fields, name) for name in ("mean_ms", "min_ms", "max_ms"))
    return Latency(mean_us=mean, min_us=least, max_us=most, percentiles=percentiles)


def _step_us(fields: Mapping[str, str]) -> float | None:
    """The step of the latencies as printed, the coarsest of the row; None without latencies."""
    steps = [step_us(f"{text}ms") for name, text in fields.items() if name.endswith("_ms")]
    return max((step for step in steps if step is not None), default=None)


def _server(fields: Mapping[str, str]) -> dict[str, Any]:
    server: dict[str, Any] = {
        name: fields[name] for name in ("version", "runtime") if name in fields
    }
    settings = {
        name.removeprefix(SETTING): text
        for name, text in fields.items()
        if name.startswith(SETTING)
    }
    if settings:
        server["configuration"] = settings
    return {"name": fields["server"], **server}


def _workload(fields: Mapping[str, str]) -> dict[str, Any]:
    texts = {name: fields[name] for name in ("method", "path") if name in fields}
    payload, keepalive = _count(fields, "payload_bytes"), _answer(fields, "keepalive")
    workload = {"payload_bytes": payload, "keepalive": keepalive, "name": fields.get("workload")}
    return {**texts, **{name: value for name, value in workload.items() if value is not None}}


def _number(fields: Mapping[str, str], name: str) -> float | None:
    return require_number(fields[name]) if name in fields else None


def _count(fields: Mapping[str, str], name: str) -> int | None:
    return require_count(fields[name]) if name in fields else None


def _small(fields: Mapping[str, str], name: str) -> int | None:
    count = _count(fields, name)
    if count is not None and count > MOST_CONNECTIONS:
        raise ValueError(f"{name} is {count}, above {MOST_CONNECTIONS}")
    return count


def _check_lengths(fields: Mapping[str, str]) -> None:
    for name, text in fields.items():
        most = LONGEST_PATH if name == "path" else LONGEST_NAME
        if max(len(text), len(name)) > most:
            raise ValueError(f"{name[:40]} has more than {most} characters")


def _us(fields: Mapping[str, str], name: str) -> float | None:
    milliseconds = _number(fields, name)
    return None if milliseconds is None else milliseconds * 1000


def _answer(fields: Mapping[str, str], name: str) -> bool | None:
    text = fields.get(name)
    if text is None:
        return None
    if text not in ANSWERS:
        raise ValueError(f"{name} is {text}, not yes or no")
    return ANSWERS[text]

"""nighthawk's JSON: its own, with a result for each worker and a global one, and for Fortio."""

from collections.abc import Mapping, Sequence
from typing import Any

from backend.formats import statuses
from backend.formats.model import Entry, Latency, ParsedTrial
from backend.formats.nighthawk.counters import LATENCY, SENT, named_points, trial_of
from backend.formats.numbers import (
    LONGEST_S,
    json_count,
    json_number,
    optional_line,
    optional_number,
    parse_duration_s,
)
from backend.formats.refusals import read_figures
from backend.formats.spectrum import Spectrum
from backend.formats.text import Document, Source

GLOBAL = "global"
RESOLUTION_US = 0.001
# Of the rate, which is written as a number with 16 digits, and shortened by others.
ROUNDING = 2e-6


def find_outputs(source: Source) -> list[Document]:
    """The objects with nighthawk's results."""
    if '"execution_duration"' not in source.text:
        return []
    return [document for document in source.objects(("options", "results")) if _is_output(document)]


def _is_output(document: Document) -> bool:
    results = document.value["results"]
    return isinstance(results, list) and any(
        isinstance(result, dict) and "counters" in result for result in results
    )


def read_output(document: Document) -> Entry:
    """The global result, or the only one."""
    return read_figures(
        _read_output,
        document.value,
        title="nighthawk JSON",
        line=document.line,
        expected="the whole object of --output-format json",
    )


def _read_output(output: Mapping[str, Any]) -> ParsedTrial:
    result = _result(output["results"])
    statistics: Sequence[Mapping[str, Any]] = result["statistics"]
    statistic = next((each for each in statistics if each["id"] == LATENCY[0]), {})
    counters = {each["name"]: count_of(each["value"]) for each in result["counters"]}
    elapsed_s = _seconds(result["execution_duration"])
    sent = counters.get(SENT)
    return trial_of(
        counters,
        _latency(statistic),
        **_distribution(statistic),
        # With one worker its result is the global one, too.
        **_asked(output["options"], workers=max(len(output["results"]) - 1, 1)),
        tool_version=_version(output.get("version")),
        elapsed_s=elapsed_s,
        reported_rps=round(sent / elapsed_s, 6) if sent and elapsed_s else None,
    )


def _result(results: Sequence[Mapping[str, Any]]) -> Mapping[str, Any]:
    """The global result, or the only one; raises ValueError where it is missing."""
    named = [result for result in results if result["name"] == GLOBAL]
    if not named and len(results) > 1:
        raise ValueError(f"{len(results)} workers, but no result named global")
    return (named or results)[0]


def _asked(options: Mapping[str, Any], *, workers: int) -> dict[str, Any]:
    """What the options ask for, those of each worker multiplied."""
    rate = optional_number(options.get("requests_per_second"))
    return {
        "url": optional_line(options.get("uri")),
        "loop": "open" if options.get("open_loop") else "closed",
        "connections": count_of(options.get("connections") or 0) * workers or None,
        "threads": workers,
        "requested_rate_rps": rate * workers if rate else None,
        "requested_duration_s": parse_duration_s(options.get("duration") or ""),
    }


def _distribution(statistic: Mapping[str, Any]) -> dict[str, Any]:
    spectrum = _spectrum(statistic)
    if spectrum is None:
        return {"latency_origin": None}
    return {
        "latency_origin": "histogram",
        "latency_resolution_us": RESOLUTION_US,
        "histogram": spectrum.histogram(unit_us=1),
    }


def count_of(value: Any) -> int:
    """A count, which JSON made of Protobuf writes as a text; raises ValueError for others."""
    return json_count(int(value) if isinstance(value, str) and value.isdecimal() else value)


def _seconds(value: Any) -> float:
    seconds = parse_duration_s(str(value))
    if seconds is None:
        raise ValueError(f"{value!r} is not a duration")
    return seconds


def _us(value: Any) -> float:
    return round(_seconds(value) * 1e6, 3)


def _version(version: Any) -> str | None:
    """ "0.5.0" of Envoy's message of a version; None where it is 0.0.0, as of most builds."""
    numbers = (version or {}).get("version") or {}
    names = ("major_number", "minor_number", "patch")
    text = ".".join(str(numbers.get(name, 0)) for name in names)
    return None if text == "0.0.0" else text


def _steps(statistic: Mapping[str, Any]) -> list[tuple[float, int, float]]:
    """Fraction, count so far and µs of each step of the histogram."""
    return [
        (json_number(step["percentile"]), count_of(step["count"]), _us(step["duration"]))
        for step in statistic.get("percentiles", ())
    ]


def _spectrum(statistic: Mapping[str, Any]) -> Spectrum | None:
    steps, total = _steps(statistic), count_of(statistic.get("count", 0))
    if not steps or not total:
        return None
    fractions, counts, values = zip(*steps, strict=True)
    rises = list(counts) == sorted(counts) and list(values) == sorted(values)
    if not rises or counts[-1] != total or values[-1] > LONGEST_S * 1e6:
        raise ValueError(f"percentiles that do not rise to the count, {total}")
    return Spectrum(values, fractions, counts, None, None, largest=values[-1], total=total)


def _latency(statistic: Mapping[str, Any]) -> Latency:
    if not count_of(statistic.get("count", 0)):
        return Latency()
    return Latency(
        mean_us=_us(statistic["mean"]),
        stdev_us=_us(statistic["pstdev"]),
        # Older versions have neither.
        min_us=_us(statistic["min"]) if "min" in statistic else None,
        max_us=_us(statistic["max"]) if "max" in statistic else None,
        percentiles=named_points([(100 * share, us) for share, _, us in _steps(statistic)]),
    )


def read_fortio(document: Document) -> Entry:
    """The trial of JSON for Fortio."""
    return read_figures(
        _read_fortio,
        document.value,
        title="nighthawk JSON for Fortio",
        line=document.line,
        expected="the whole object of --output-format fortio",
    )


def _read_fortio(result: Mapping[str, Any]) -> ParsedTrial:
    elapsed_s, rate = json_number(result["ActualDuration"]) / 1e9, json_number(result["ActualQPS"])
    codes = _codes(result.get("RetCodes") or {})
    answered, ok, sent = sum(codes.values()), statuses.succeeded(codes), rate * elapsed_s
    has_all = sent - answered <= 0.5 + ROUNDING * sent
    connections = count_of(result["NumThreads"])
    lost = _lost(sent - answered, connections)
    latency = _fortio_latency(result["DurationHistogram"])
    return ParsedTrial(
        tool_version=optional_line(result.get("Version")),
        url=optional_line(result.get("URL")),
        connections=connections,
        requested_rate_rps=_asked_rate(result.get("RequestedQPS")),
        requested_duration_s=parse_duration_s(result.get("RequestedDuration") or ""),
        elapsed_s=elapsed_s,
        # How the others ended is not said.
        requests_completed=answered if has_all else None,
        requests_ok=ok,
        attempts=lost and answered + lost,
        failed=lost and answered + lost - ok,
        reported_rps=rate,
        bytes_received=_received(result),
        errors={"status": statuses.failed(codes), "read": 0, "connect": 0} if has_all else {},
        tool_errors={} if has_all else {"without a code": round(sent) - answered},
        status_counts=codes if has_all else None,
        latency=latency,
        latency_origin=latency.printed_origin,
        latency_resolution_us=None if latency == Latency() else RESOLUTION_US,
    )


def _received(result: Mapping[str, Any]) -> int | None:
    return count_of(result["BytesReceived"]) if "BytesReceived" in result else None


def _lost(missing: float, connections: int) -> int | None:
    """The requests without a response; None where the end may have cut them off, one of each
    connection."""
    return round(missing) if missing > connections else None


def _codes(block: Mapping[str, Any]) -> dict[str, int]:
    """The responses by status; under 200 alone nighthawk counts all of 2xx."""
    codes = {code: count_of(count) for code, count in block.items()}
    if not all(code.isdecimal() for code in codes):
        raise ValueError(f"RetCodes has {sorted(codes)}, which are not statuses")
    return {"2xx": codes["200"]} if codes.keys() == {"200"} else codes


def _asked_rate(value: Any) -> float | None:
    rate = float(count_of(value or 0))
    return rate or None


def _fortio_latency(histogram: Mapping[str, Any]) -> Latency:
    if not count_of(histogram["Count"]):
        return Latency()
    points: Sequence[Mapping[str, Any]] = histogram.get("Percentiles") or ()
    return Latency(
        mean_us=_of_seconds(histogram["Avg"]),
        stdev_us=_of_seconds(histogram["StdDev"]),
        min_us=_of_seconds(histogram["Min"]) if "Min" in histogram else None,
        max_us=_of_seconds(histogram["Max"]) if "Max" in histogram else None,
        percentiles={
            f"{json_number(point['Percentile']):.12g}": _of_seconds(point["Value"])
            for point in points
        },
    )


def _of_seconds(seconds: Any) -> float:
    return round(json_number(seconds) * 1e6, 6)

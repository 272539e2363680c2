"""HdrHistogram's files say no unit: their figures are kept, and are latencies only with one."""

import base64
import io
import struct
import zlib

import pytest
from hdrh.histogram import HdrHistogram
from hdrh.log import HistogramLogWriter
from hypothesis import given, settings
from hypothesis import strategies as st

from backend.formats import FormatError, RawArtefact, parse, text
from backend.stats import Histogram

VALUES = [1000 + 37 * step for step in range(400)]


def recorded(values):
    histogram = HdrHistogram(1, 3_600_000_000, 3)
    for value in values:
        histogram.record_value(value)
    return histogram


def distribution():
    out = io.BytesIO()
    recorded(VALUES).output_percentile_distribution(out, 1.0)
    return out.getvalue()


def log(*parts):
    out = io.StringIO()
    writer = HistogramLogWriter(out)
    writer.output_log_format_version()
    writer.output_legend()
    for second, values in enumerate(parts):
        histogram = recorded(values)
        histogram.set_start_time_stamp(second * 1000)
        histogram.set_end_time_stamp((second + 1) * 1000)
        writer.output_interval_histogram(histogram)
    return out.getvalue().encode()


def read(data):
    (trial,) = parse([RawArtefact.of("file", data)])
    return trial


def test_a_distribution_keeps_its_figures_in_its_own_unit():
    trial = read(distribution())
    assert (trial.tool, trial.requests_completed) == ("hdrhistogram", None)
    assert trial.extra["spectrum"]["total_count"] == len(VALUES)
    assert trial.extra["spectrum"]["p50_value"] == pytest.approx(VALUES[199], rel=0.05)
    assert (trial.latency_origin, trial.histogram, trial.latency.mean_us) == (None, None, None)


def test_a_log_gives_counts_over_time():
    trial = read(log(VALUES, VALUES[:100], VALUES[:7]))
    assert [part.completed for part in trial.timeline] == [400, 100, 7]
    assert [part.start_s for part in trial.timeline] == [0, 1, 2]
    assert trial.requests_completed == 507
    assert trial.elapsed_s == 3
    assert trial.extra["spectrum"]["total_count"] == 507


@pytest.mark.parametrize("cut", [40, 60, 90, 200])
def test_a_cut_off_distribution_is_refused(cut):
    with pytest.raises(FormatError):
        read(distribution()[:cut])


def test_the_head_of_a_log_above_the_start_of_another_tool_is_refused():
    entries = parse([RawArtefact.of("file", b"Interval_Compressed_Histogram\nTest run id:")])
    assert [entry.line for entry in entries if isinstance(entry, FormatError)] == [1, 2]


def test_a_damaged_log_row_is_named():
    whole = log(VALUES)
    with pytest.raises(FormatError) as refused:
        read(whole[:-30] + b"!!!!\n")
    assert refused.value.line


UNIT = b"#[Values in microseconds]\n"


def log_of(rows):
    """A log as the Java writer prints it, of (start, length, tag, values)."""
    head = '#[Histogram log format version 1.3]\n"StartTimestamp","Interval_Length",'
    lines = [head + '"Interval_Max","Interval_Compressed_Histogram"\n']
    for start, length, tag, values in rows:
        of = recorded(values)
        prefix = f"Tag={tag}," if tag else ""
        largest, encoded = of.get_max_value() / 1e6, of.encode().decode()
        lines.append(f"{prefix}{start:.3f},{length:.3f},{largest:.3f},{encoded}\n")
    return "".join(lines).encode()


ROWS = [(7.5, 1.0, None, VALUES), (8.5, 1.0, None, VALUES[:100]), (9.5, 0.5, None, VALUES[:7])]


def test_the_figures_of_a_log_are_those_of_the_library():
    figures = read(log_of(ROWS)).extra["spectrum"]
    everything = recorded([*VALUES, *VALUES[:100], *VALUES[:7]])
    for percent in (50, 75, 90, 99, 99.9):
        assert figures[f"p{percent:g}_value"] == everything.get_value_at_percentile(percent)
    assert figures["max"] == everything.get_max_value()


@pytest.mark.parametrize(
    ("statement", "unit_us"),
    [
        (b"#[Values in microseconds]\n", 1.0),
        (b"# unit: ns\n", 1e-3),
        (b"#[Units = ms]\n", 1e3),
        (b"# latencies in usec\n", 1.0),
    ],
)
def test_a_unit_that_a_comment_states_makes_latencies(statement, unit_us):
    trial = read(statement + log_of(ROWS))
    assert (trial.latency_origin, trial.histogram.count) == ("histogram", 507)
    expected = recorded([*VALUES, *VALUES[:100], *VALUES[:7]]).get_value_at_percentile(50)
    assert trial.histogram.percentile(50) == pytest.approx(expected * unit_us, rel=1.5e-3, abs=1)
    assert [Histogram.decode(part.histogram).count for part in trial.timeline] == [400, 100, 7]
    assert [part.start_s for part in trial.timeline] == [0, 1, 2]


@pytest.mark.parametrize(
    "statement",
    [
        b"",
        b"#[StartTime: 1441812279.474 (seconds since epoch), Wed Sep 09 08:24:39 PDT 2015]\n",
        b"# the server answers within 5 ms\n",
        b"# unit: us\n# unit: ms\n",
    ],
)
def test_without_one_stated_unit_nothing_is_a_latency(statement):
    trial = read(statement + log_of(ROWS))
    assert (trial.histogram, trial.latency_origin, trial.requests_completed) == (None, None, 507)
    assert all(part.histogram is None for part in trial.timeline)


def test_tags_over_the_same_time_are_one_interval():
    rows = [(0.0, 1.0, "READ", VALUES), (0.0, 1.0, "UPDATE", VALUES[:50]), (1.0, 1.0, "READ", [9])]
    trial = read(UNIT + log_of(rows))
    assert trial.extra["tags"] == {"READ": 401, "UPDATE": 50}
    assert [part.completed for part in trial.timeline] == [450, 1]
    assert Histogram.decode(trial.timeline[0].histogram).count == 450


def test_a_log_longer_than_any_report_is_read_to_its_end(monkeypatch):
    monkeypatch.setattr(text, "REPORT_BYTES", 4000)
    monkeypatch.setattr(text, "HEAD_BYTES", 1000)
    rows = [(float(second), 1.0, None, VALUES) for second in range(60)]
    data = log_of(rows)
    assert len(data) > 4000
    trial = read(data)
    assert (trial.requests_completed, trial.elapsed_s) == (60 * len(VALUES), 60)


WHOLE_LOG = log_of(ROWS)


@pytest.mark.parametrize("cut", range(0, len(WHOLE_LOG), 29))
def test_a_cut_off_log_has_whole_intervals_only(cut):
    try:
        trial = read(WHOLE_LOG[:cut])
    except FormatError:
        return
    assert [part.completed for part in trial.timeline] == [400, 100, 7][: len(trial.timeline)]
    ends_whole = WHOLE_LOG[:cut].endswith(b"\n")
    assert trial.incomplete or ends_whole


def test_a_row_of_the_first_encoding_is_read():
    counts = [0, 3, 0, 2]
    header = struct.pack(">IIIIQQd", 0x1C849301 | 8 << 4, 32, 0, 3, 1, 3_600_000_000, 1.0)
    packed = zlib.compress(header + struct.pack(">4q", *counts))
    row = base64.b64encode(struct.pack(">II", 0x1C849302, len(packed)) + packed).decode()
    trial = read(f"#[Histogram log format version 1.1]\n0.0,1.0,0.0,{row}\n".encode())
    assert trial.extra["spectrum"]["total_count"] == 5
    assert trial.extra["spectrum"]["max"] == 3


def test_a_row_that_unpacks_to_far_more_is_refused():
    bomb = zlib.compress(struct.pack(">IIIIQQd", 0x1C849313, 1, 0, 3, 1, 9, 1.0) + bytes(50 << 20))
    row = base64.b64encode(struct.pack(">II", 0x1C849314, len(bomb)) + bomb).decode()
    with pytest.raises(FormatError, match="Line 2"):
        read(f"#[Histogram log format version 1.2]\n0.0,1.0,0.0,{row}\n".encode())


@pytest.mark.parametrize("head", [b"Value(msec)", b"Value (ms)", b"Value[ms]"])
def test_a_unit_in_the_head_of_a_distribution_makes_latencies(head):
    trial = read(distribution().replace(b"    Value", b"    " + head, 1))
    assert trial.histogram.count == len(VALUES)
    assert trial.latency.max_us == pytest.approx(max(VALUES) * 1000, rel=1e-3)


def test_each_distribution_of_a_paste_is_an_entry():
    first, second = parse([RawArtefact.of("paste", distribution() + b"\n" + distribution())])
    assert first.extra == second.extra
    assert first.extra["spectrum"]["total_count"] == len(VALUES)


@settings(max_examples=200, deadline=None)
@given(st.data())
def test_a_damaged_log_raises_format_errors_only(data):
    raw = bytearray(WHOLE_LOG)
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(0, len(raw) - 1))
        raw[at : at + data.draw(st.integers(0, 5))] = data.draw(st.binary(max_size=4))
    try:
        parse([RawArtefact.of("log", bytes(raw))])
    except FormatError:
        return

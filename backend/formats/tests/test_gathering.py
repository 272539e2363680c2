"""Logs read in chunks say what they say read at once."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from backend.formats import FormatError, RawArtefact, timeline
from backend.formats.logs import LONGEST_LINE_BYTES, Table, ahead, line_chunks, without_blank_end
from backend.formats.text import MOST_FAULTS, Source
from backend.formats.timeline import Gathering
from backend.stats import Histogram


def source(data):
    return Source(RawArtefact.of("log", data))


@given(st.lists(st.binary(max_size=20).map(lambda line: line.replace(b"\n", b"")), max_size=30))
def test_chunks_hold_every_line_once_with_its_number(lines):
    data = b"\n".join(lines)
    if data.startswith((b"\xff\xfe", b"\xfe\xff", b"\xef\xbb\xbf")):
        return
    chunks = list(line_chunks(source(data), size=16))
    assert b"".join(chunk for _, chunk in chunks) == data
    for number, chunk in chunks:
        assert data.split(b"\n")[number - 1 :][0] == chunk.split(b"\n")[0]


def test_utf16_and_marks_are_read_as_utf8():
    for encoding in ("utf-16", "utf-8-sig", "utf-8"):
        packed = source("a\tb\n1\té\n".encode(encoding))
        assert (
            b"".join(chunk for _, chunk in line_chunks(packed, size=3)) == "a\tb\n1\té\n".encode()
        )


def read(text, **columns):
    table = Table(tool="x", header="a,b,c", separator=",", columns=columns)
    return [row for frame in table.frames(source(text)) for row in frame.rows()]


def test_columns_are_read_behind_the_header():
    assert read(b"$ cat log\r\na,b,c\r\n1,x,2.5\r\n3,y,\r\n", a=int, c=float) == [
        (1, 2.5),
        (3, None),
    ]


@pytest.mark.parametrize("row", [b"1,x", b"1,x,2,3", b"x,x,2"])
def test_a_row_that_does_not_fit_is_named(row):
    with pytest.raises(FormatError) as refused:
        read(b"a,b,c\n1,x,2\n" + row + b"\n4,x,2\n", a=int, c=float)
    assert (refused.value.line, refused.value.found) == (3, row.decode())


@given(st.lists(st.sampled_from([b"\n", b"\r\n", b"1,2\n", b"3,4\r\n", b"5,6"]), max_size=8))
def test_blank_lines_at_the_end_are_left_out_and_nothing_else(lines):
    rows = b"".join(lines)
    kept = without_blank_end(rows)
    assert kept.rstrip(b"\r\n") == rows.rstrip(b"\r\n")
    assert not kept or kept.splitlines()[-1]


def test_a_last_row_with_too_few_cells_was_cut_off():
    assert read(b"a,b,c\n1,x,2\n3,y", a=int) == [(1,)]


requests = st.lists(
    st.tuples(st.integers(0, 30_000_000), st.integers(0, 8_000_000), st.booleans()),
    min_size=1,
    max_size=60,
)


@settings(deadline=None)
@given(requests, st.integers(1, 10))
def test_a_timeline_does_not_depend_on_the_chunks(rows, size):
    gathered = []
    for step in (size, len(rows)):
        gathering = Gathering()
        for begin in range(0, len(rows), step):
            latency, start, failed = (
                np.array(c) for c in zip(*rows[begin : begin + step], strict=True)
            )
            gathering.add(latency, start_s=start / 1e6, failed=failed)
        gathered.append(gathering)
    small, whole = gathered
    assert small.histogram.encode() == whole.histogram.encode()
    assert small.completed == sum(part.completed for part in small.timeline()) == len(rows)
    assert small.failed == sum(part.failed for part in small.timeline())
    merged = Histogram.merge_all(
        Histogram.decode(part.histogram) for part in small.timeline() if part.histogram
    )
    assert merged.count == len(rows)


# Start (s), latency (µs), whether it failed, was answered, and is timed without an answer.
attempts = st.tuples(
    st.integers(0, 50),
    # From a quarter of a million seconds on, there is no time series.
    st.one_of(st.integers(0, 60_000_000), st.integers(1 << 38, 1 << 40)),
    st.booleans(),
    st.booleans(),
    st.booleans(),
)


def slice_of(rows):
    """Completed, failed and encoded histogram, counted one by one."""
    timed = [latency for _, latency, _, answered, is_timed in rows if answered or is_timed]
    completed = sum(answered for *_, answered, _ in rows)
    encoded = Histogram.from_samples(np.array(timed, dtype=np.int64)).encode()
    return completed, sum(failed for _, _, failed, *_ in rows), encoded or None


@pytest.mark.long
@settings(deadline=None)
@given(st.lists(attempts, min_size=1, max_size=60), st.integers(1, 60), st.sampled_from([0, 1, 50]))
def test_slices_are_what_counting_one_by_one_gives(rows, step, keys_of_part):
    gathering = Gathering()
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(timeline, "KEYS_OF_PART", keys_of_part)
        for begin in range(0, len(rows), step):
            columns = zip(*rows[begin : begin + step], strict=True)
            start, latency, failed, answered, timed = (np.array(column) for column in columns)
            gathering.add(
                latency, start_s=start, failed=failed, responded=answered, timed=timed | answered
            )
    slices = gathering.timeline()
    origin = min(start for start, *_ in rows[:step])
    ends = [int((latency / 1e6 + start - origin) // 1) for start, latency, *_ in rows]
    seconds = range(min(ends), max(ends) + 1)
    if len(seconds) > timeline.MOST_SECONDS:
        assert slices == ()
        return
    wanted = {second: [] for second in seconds}
    for second, row in zip(ends, rows, strict=True):
        wanted[second].append(row)
    assert [(part.completed, part.failed, part.histogram) for part in slices] == [
        slice_of(rows) for rows in wanted.values()
    ]
    assert gathering.timeline() == slices


def test_a_request_counts_in_the_second_it_ended():
    gathering = Gathering()
    gathering.add(np.array([100_000, 1_500_000, 200_000]), start_s=np.array([10.0, 10.1, 12.0]))
    assert [part.completed for part in gathering.timeline()] == [1, 1, 1]


def test_an_attempt_without_response_counts_as_failed_only():
    gathering = Gathering()
    gathering.add(
        np.array([1000, 2000]),
        start_s=np.array([0.0, 0.0]),
        failed=np.array([False, True]),
        responded=np.array([True, False]),
    )
    (second,) = gathering.timeline()
    assert (second.completed, second.failed, gathering.histogram.count) == (1, 1, 1)


def test_the_latency_of_an_attempt_without_response_counts_where_the_tool_counts_it():
    gathering = Gathering()
    gathering.add(
        np.array([1000, 2000]),
        start_s=np.array([0.0, 0.0]),
        failed=np.array([False, True]),
        responded=np.array([True, False]),
        timed=np.array([True, True]),
    )
    (second,) = gathering.timeline()
    assert (second.completed, second.failed, gathering.completed) == (1, 1, 1)
    assert gathering.histogram.count == Histogram.decode(second.histogram).count == 2


def test_documents_that_were_appended_without_a_line_feed_are_found():
    assert [one.value for one in source(b'$ x\n{"a": 1}{"b": 2}\n{"c": 3}').documents] == [
        {"a": 1},
        {"b": 2},
        {"c": 3},
    ]


def test_documents_are_found_among_prompts():
    text = b'$ tool --json\n{"a": 1}\nnoise {not json}\n{\n  "b": [1,\n 2]\n}\n{"cut": [1, 2\n'
    first, second, cut = source(text).documents
    assert (first.line, first.value, second.line, second.value) == (2, {"a": 1}, 4, {"b": [1, 2]})
    assert (cut.line, cut.value) == (8, None)
    assert (cut.fault_line, cut.fault) == (9, "Expecting ',' delimiter")


def test_items_made_ahead_come_in_order_and_so_do_faults():
    def items():
        yield from range(3)
        raise FormatError("The fourth is none.")

    made = ahead(items())
    assert [next(made) for _ in range(3)] == [0, 1, 2]
    with pytest.raises(FormatError, match="fourth"):
        next(made)
    assert list(ahead(iter("abc"))) == ["a", "b", "c"]


def test_of_many_broken_documents_the_first_are_told_of():
    text = b'{ "a": 3,\n' * 5000
    assert len(source(text).documents) == MOST_FAULTS


def test_a_line_longer_than_the_limit_names_it():
    data = b"a\n" + b"x" * (LONGEST_LINE_BYTES + 1)
    with pytest.raises(FormatError) as refused:
        list(line_chunks(source(data)))
    assert refused.value.line == 2
    assert refused.value.expected == "lines of at most 1,048,576 bytes"

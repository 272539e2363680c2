import json
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from backend.formats import TOOLS, FormatError, RawArtefact, parse
from backend.formats.tests.test_captures import EXPECTATIONS, FORMATS, files_of
from backend.formats.text import Source
from backend.formats.tools import claims_of

OUTPUTS = sorted({path for expectation in EXPECTATIONS for path in files_of(expectation)})


def artefact(text, name="file"):
    return RawArtefact.of(name, text if isinstance(text, bytes) else text.encode())


def capture(path):
    tool, _, rest = path.partition("/")
    return (FORMATS / tool / "tests/captures" / rest).read_bytes()


WRK = capture("wrk/latency-c10-10k/stdout")
AB = capture("ab/rand-c10-tsv-csv/stdout")
TSV = capture("ab/rand-c10-tsv-csv/plot.tsv")


@pytest.mark.parametrize("path", OUTPUTS, ids=lambda path: str(path.relative_to(FORMATS)))
def test_no_two_tools_claim_one_input(path):
    assert len(claims_of(Source(RawArtefact.of(path.name, path.read_bytes())))) <= 1


def test_a_hint_that_contradicts_the_content_is_an_error():
    with pytest.raises(FormatError, match="from wrk, not from ab"):
        parse([artefact(WRK)], tool="ab")


@pytest.mark.parametrize("tool", TOOLS)
def test_a_hint_is_believed_where_it_says_what_the_content_says_and_nowhere_else(tool):
    path = next(path for path in OUTPUTS if path.is_relative_to(FORMATS / tool))
    files = [RawArtefact.of(path.name, path.read_bytes())]
    for hint in TOOLS.keys() - {tool}:
        with pytest.raises(FormatError, match=f"is from {tool}, not from {hint}"):
            parse(files, tool=hint)
    assert _outcome(files, tool) == _outcome(files, None)


def _outcome(files, hint):
    try:
        return parse(files, tool=hint)
    except FormatError as refused:
        return str(refused)


def test_tables_of_printed_figures_are_not_called_load_tools():
    with pytest.raises(FormatError) as refused:
        parse([artefact("hello")])
    assert " wrk," in str(refused.value)
    assert "published" not in str(refused.value)
    assert "httparena" not in str(refused.value)


def test_detection_says_why():
    (trial,) = parse([artefact(AB)])
    assert trial.detected_by == "line 1 is ab's banner"


def test_report_and_requests_are_read_together():
    (trial,) = parse([artefact(AB, "stdout"), artefact(TSV, "plot.tsv")])
    assert (trial.latency_origin, trial.samples, trial.disagreements) == ("samples", 1000, ())


def test_a_request_file_of_another_run_is_a_disagreement():
    short = b"\n".join(TSV.split(b"\n")[:500])
    (trial,) = parse([artefact(AB), artefact(short)])
    assert "1000 complete requests" in trial.disagreements[0]


def test_files_of_two_tools_in_one_trial_are_refused():
    with pytest.raises(FormatError, match="ab and wrk"):
        parse([artefact(AB), artefact(WRK)])


def test_a_broken_row_is_named():
    broken = TSV.replace(b"\t2\t2\t1\n", b"\t2\tx\t1\n", 1)
    with pytest.raises(FormatError, match="Line ") as refused:
        parse([artefact(broken)])
    assert refused.value.line


@pytest.mark.parametrize("cut", range(0, len(WRK), 7))
def test_a_cut_off_report_is_incomplete_or_refused_but_never_wrong(cut):
    whole = parse([artefact(WRK)])[0]
    try:
        (trial,) = parse([artefact(WRK[:cut])])
    except FormatError:
        return
    assert trial.requests_completed == whole.requests_completed
    assert trial.reported_rps in (None, whole.reported_rps)
    assert trial.transfer_rate_bytes_s in (None, whole.transfer_rate_bytes_s)
    assert trial.incomplete or trial == whole


def test_errors_that_may_have_been_cut_off_are_unknown():
    report = capture("wrk/err500-c10/stdout")
    (trial,) = parse([artefact(report[: report.index(b"  Non-2xx")])])
    assert (trial.incomplete, trial.requests_ok, trial.errors.get("status")) == (True, None, None)


def test_a_time_beyond_any_clock_is_refused():
    broken = TSV.replace(b"\t2\t2\t1\n", b"\t2\t99999999999999999\t1\n", 1)
    with pytest.raises(FormatError, match="99999999999999999"):
        parse([artefact(broken)])


@pytest.mark.long
@settings(max_examples=300, deadline=None)
@given(st.sampled_from(OUTPUTS), st.data())
def test_a_damaged_capture_raises_format_errors_only(path, data):
    raw = bytearray(path.read_bytes()[:6000])
    for _ in range(data.draw(st.integers(1, 8))):
        at = data.draw(st.integers(0, len(raw) - 1))
        piece = data.draw(st.binary(max_size=6))
        raw[at : at + data.draw(st.integers(0, 40))] = piece
        if not raw:
            break
    try:
        entries = parse([RawArtefact.of(path.name, bytes(raw))])
    except FormatError:
        return
    for entry in entries:
        str(entry) if isinstance(entry, FormatError) else entry.as_dict()


@settings(max_examples=100, deadline=None)
@given(st.binary(max_size=400))
def test_any_bytes_are_refused_with_a_sentence(raw):
    with pytest.raises(FormatError):
        parse([artefact(raw)])


def test_every_tool_documents_its_definitions():
    for tool in TOOLS.values():
        assert all(
            word in tool.doc for word in ("Loop:", "Latency unit:", "Percentiles:", "Success:")
        )


@pytest.mark.parametrize(
    ("path", "figure", "found"),
    [
        ("ab/rand-c10-tsv-csv/stdout", rb"(Concurrency Level: +)\d+", "connections"),
        ("wrk/latency-c10-10k/stdout", rb"(threads and )\d+", "connections"),
        ("k6/rate50-3s-csv/stdout", rb"(data_received[.]+: )\d+(?= kB)", "bytes received"),
    ],
)
def test_a_count_that_no_database_keeps_is_refused_with_its_name(path, figure, found):
    report = capture(path)
    assert not isinstance(parse([artefact(report)])[0], FormatError)
    too_large = re.sub(figure, rb"\g<1>" + b"9" * 18, report, count=1)
    with pytest.raises(FormatError, match="impossible number of") as refused:
        parse([artefact(too_large)])
    assert refused.value.found.startswith(found)


@pytest.mark.parametrize(
    "name", ["abc", "", "nan", "inf", "-5", "1e2", "100.1", "9x9", "=1+1", "\uff19\uff19", "5" * 40]
)
@pytest.mark.parametrize("others", [0, 200])
def test_a_percentile_whose_name_is_not_a_number_is_refused(name, others):
    document = json.loads(capture("bombardier/c20-n600-500s-json/stdout"))
    points = {f"50.{at:03}": at for at in range(others)}
    document["result"]["latency"]["percentiles"] = {**points, "50": 200, name: 300}
    with pytest.raises(FormatError, match="whose name is not a number") as refused:
        parse([artefact(json.dumps(document, separators=(",", ":")))])
    assert refused.value.found == name

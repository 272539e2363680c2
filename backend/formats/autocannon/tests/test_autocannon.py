import json
import re
from dataclasses import replace
from pathlib import Path

import pytest

from backend.formats import FormatError, Latency, RawArtefact, parse
from backend.formats.autocannon.table import _localised
from backend.formats.text import REPORT_BYTES

CAPTURES = Path(__file__).parent / "captures"
TABLE = (CAPTURES / "c20-500s-text" / "stderr").read_text()
REFUSED = (CAPTURES / "c10-refused-text" / "stderr").read_text()
JSON = json.loads((CAPTURES / "c20-hang-t1-json" / "stdout").read_text())


def read(*texts):
    return parse([RawArtefact.of(f"file{at}", text.encode()) for at, text in enumerate(texts)])


@pytest.mark.parametrize(
    ("cell", "value"),
    [
        ("880.67", 880.67),
        ("880,67", 880.67),
        ("1,201", 1201),
        ("1.201", 1201),
        ("1.201,5", 1201.5),
        ("1,201.5", 1201.5),
        ("1,201,5", 1201.5),
        ("12.345.678", 12345678),
        ("0,620", None),
        ("1,2345", None),
        ("1.2.3", None),
        ("", None),
    ],
)
def test_a_figure_of_two_decimals_is_read_in_any_locale(cell, value):
    assert _localised(cell) == value


@pytest.mark.parametrize("cut", range(0, len(REFUSED), 5))
def test_errors_that_may_have_been_cut_off_are_unknown(cut):
    try:
        (trial,) = read(REFUSED[:cut])
    except FormatError:
        return
    assert trial.errors.get("other") in (None, 740)
    assert trial.incomplete or trial.errors["other"] == 740


@pytest.mark.parametrize(
    ("count", "damaged"), [("│ 567 ", "│ 5x7 "), ("│ 500 ", "│ 5x0 "), (", 567 non", ", 5x7 non")]
)
def test_a_damaged_count_is_refused(count, damaged):
    with pytest.raises(FormatError, match="invalid count"):
        read(TABLE.replace(count, damaged, 1))


def test_codes_that_contradict_the_classes_are_a_disagreement():
    (trial,) = read(TABLE.replace("│ 567 ", "│ 568 ", 1))
    assert "567 other responses" in trial.disagreements[0]


def test_more_timeouts_than_errors_are_a_disagreement():
    (trial,) = read(json.dumps({**JSON, "errors": 3}))
    assert (trial.errors["timeout"], trial.errors["other"]) == (44, None)
    assert trial.disagreements == ("44 timeouts are among 3 errors",)


def test_samples_that_autocannon_added_are_named():
    (trial,) = read((CAPTURES / "c10-R500-3s-json" / "stdout").read_text())
    assert "29968 samples" in trial.disagreements[0]


def test_pretty_printed_and_arrays_of_results_are_read():
    pretty = json.dumps([JSON, {**JSON, "url": "http://b.test/"}], indent=4)
    assert [run.url for run in read(pretty)] == [JSON["url"], "http://b.test/"]


@pytest.mark.parametrize("indent", [None, 4])
def test_json_of_a_file_too_long_for_a_report_names_the_limit(indent):
    long = {**JSON, "statusCodeStats": {"200": {"count": 1, "text": "x" * REPORT_BYTES}}}
    with pytest.raises(FormatError, match=r"more than 16 MiB.* at most 16 MiB") as refused:
        read(json.dumps(long, indent=indent))
    assert "cut off" not in str(refused.value)
    assert "Send the report alone" in str(refused.value)
    assert refused.value.found == f"{len(json.dumps(long, indent=indent)):,} bytes"


def test_a_broken_json_beside_a_table_is_an_entry():
    broken, table = read(json.dumps(JSON)[:700] + "\n" + TABLE)
    assert isinstance(broken, FormatError)
    assert table.requests_completed == 2642


def test_the_table_of_another_run_than_the_json_is_an_entry():
    assert [run.url for run in read(json.dumps(JSON) + "\n" + TABLE)] == [
        "http://127.0.0.1:18305/",
        "http://127.0.0.1:18303/",
    ]


def test_percentiles_of_old_versions_have_their_point():
    old = {**JSON, "latency": {"average": 1, "stddev": 1, "min": 1, "max": 9, "p50": 1, "p999": 9}}
    (trial,) = read(json.dumps(old))
    assert trial.latency.percentiles == {"50": 1000.0, "99.9": 9000.0}


def test_the_least_latency_that_was_not_rounded_to_zero_is_shown_as_printed():
    latency = {"average": 1, "stddev": 1, "min": 2, "max": 9, "p1": 0, "p50": 2}
    (trial,) = read(json.dumps({**JSON, "latency": latency}))
    assert (trial.latency.min_us, trial.latency_resolution_us) == (2000.0, 1000)


def test_a_sampling_interval_that_is_no_number_is_refused():
    text = (CAPTURES / "L100-text" / "stderr").read_text()
    with pytest.raises(FormatError, match="invalid count"):
        read(text.replace("every 0.1 ", "every x "))


WITHOUT_HEAD = {"url": None, "requested_duration_s": None, "requested_requests": None}


@pytest.mark.parametrize("case", ["c10-3s-text", "own-v2-latency-text", "german-text"])
def test_tables_without_the_lines_above_them_are_read(case):
    text = (CAPTURES / case / "stderr").read_text()
    (whole,) = read(text)
    connections = text.index(" connections")
    bare = text[text.index("\n", connections) :]
    (trial,) = read(bare)
    expected = replace(whole, **WITHOUT_HEAD, connections=None, threads=None)
    assert trial.as_dict() == expected.as_dict()
    (trial,) = read(text[text.rindex("\n", 0, connections) :])
    assert trial.as_dict() == replace(expected, connections=whole.connections).as_dict()
    assert [run.url for run in read(bare + text + bare)] == [None, whole.url, None]


def test_the_tables_of_a_warm_up_are_no_run():
    text = (CAPTURES / "warmup-text" / "stderr").read_text()
    tables = text[text.index(" connections", text.index(" test @ ")) :]
    warm = text[: text.index("\n\n")] + tables[tables.index("\n") :]
    assert len(read(warm + text[text.index("Running 2s") :])) == 1


def test_a_count_below_a_thousand_is_that_of_the_requests_asked_for():
    text = (CAPTURES / "workers-text" / "stderr").read_text()
    (trial,) = read(text)
    # In a run of 2 s, some of those sent may not have been answered.
    assert (trial.requests_completed, trial.extra["extra"]) == (None, {"requests_sent": 375})
    asked = text.replace("Running 2s test", "Running 375 requests test")
    (trial,) = read(asked)
    assert (trial.requests_completed, trial.requests_ok) == (375, 375)
    (failed,) = read(asked.rstrip() + "\n3 errors (1 timeouts)\n")
    assert failed.requests_completed is None
    of_2000 = text.replace("Running 2s test", "Running 2000 requests test")
    (rounded,) = read(of_2000.replace("375 requests in", "2k requests in"))
    assert rounded.requests_completed is None
    assert rounded.extra["extra"] == {"requests_sent_at_most": 2_500}


def test_a_table_of_zeros_has_no_latency():
    """As it is printed with -x where every response has another status than 2xx."""
    text = (CAPTURES / "german-text" / "stderr").read_text()
    rows = [re.sub(r"[\d,.]+ ms", "0 ms", row) for row in text.split("\n")]
    (trial,) = read("\n".join(rows))
    assert trial.latency == Latency()
    assert trial.reported_rps

from pathlib import Path

import pytest

from backend.formats import FormatError, RawArtefact, parse

CAPTURES = Path(__file__).parent / "captures"
TEXT = (CAPTURES / "hang-external" / "stdout").read_text()
CSV = (CAPTURES / "hang-external" / "stats.csv").read_text()
XML = (CAPTURES / "hang-external" / "stats.xml").read_text()
OLD = """18:04:24 INFO: Samples count: 367, 8.17% failures
18:04:24 INFO: Average times: total 0.385, latency 0.115, connect 0.000
18:04:24 INFO: Percentile   0.0%: 0.125
18:04:24 INFO: Percentile  50.0%: 0.130
18:04:24 INFO: Percentile  99.0%: 2.131
18:04:24 INFO: Percentile 100.0%: 3.641
18:04:25 INFO: Done performing with code: 0
"""


def read(*texts):
    return parse([RawArtefact.of(f"file{at}", text.encode()) for at, text in enumerate(texts)])


def test_the_lines_of_old_versions_are_percentiles():
    (trial,) = read(OLD)
    assert (trial.requests_ok, trial.tool_errors) == (337, {"failures": 30})
    assert trial.latency.percentiles == {"50": 130_000, "99": 2_131_000}
    assert (trial.latency.min_us, trial.latency.max_us) == (125_000, 3_641_000)


def test_final_stats_that_two_reporters_print_are_one_run():
    """bzt has a reporter of its own, and a configuration that asks for a dump adds another."""
    assert TEXT.count("Samples count") == 2
    assert len(read(TEXT)) == 1
    assert len(read(TEXT + "$ bzt again.yml\n" + TEXT)) == 2
    assert len(read(TEXT + TEXT)) == 2


def samples(count, share, *more):
    return "\n".join([f"INFO: Samples count: {count}, {share}% failures", *more, ""])


def test_a_rounded_share_tells_the_number_of_few_failures_alone():
    (few,) = read(samples(9999, "0.01"))
    assert (few.requests_ok, few.tool_errors) == (9998, {"failures": 1})
    (many,) = read(samples(1_000_000, "0.00"))
    assert (many.requests_completed, many.requests_ok, many.errors) == (None, None, {})
    assert many.tool_errors == {"failures": None}
    listed = ("INFO: 30000 failed samples: GET /", "INFO: 25012 failed samples: GET /a")
    (named,) = read(samples(1_000_000, "5.50", *listed))
    assert named.tool_errors == {"failures": 55_012}
    (cut,) = read(samples(1_000_000, "5.50", listed[0]))
    assert cut.tool_errors == {"failures": None}


def test_a_text_without_failures_says_nothing_of_statuses():
    """apiritif takes any answer for a success; the dump of the same run has the statuses."""
    text, dump = (
        (CAPTURES / "apiritif-500s" / name).read_text() for name in ("stdout", "stats.csv")
    )
    (printed,), (dumped,) = read(text), read(dump)
    assert printed.requests_ok == printed.requests_completed == dumped.requests_completed
    assert "status" not in printed.errors
    assert dumped.requests_completed - dumped.requests_ok == dumped.errors["status"] > 0


def test_a_dump_of_the_cloud_names_its_total():
    (trial,) = read(CSV.replace("\n,", "\nALL,"))
    assert trial.requests_ok == 756


@pytest.mark.parametrize(
    ("old", "new"),
    [(",756,800", ",755,800"), ("\n,0.00163", "\nx,0.00163"), (",44,", ",x,"), ("800", "-800")],
)
def test_a_dump_that_contradicts_itself_or_has_no_total_is_refused(old, new):
    with pytest.raises(FormatError, match=r"total|missing or invalid"):
        read(CSV.replace(old, new))


def test_a_code_that_has_no_name_leaves_the_responses_unknown():
    (trial,) = read(CSV.replace("rc_SocketTimeoutException", "rc_"))
    assert (trial.requests_completed, trial.status_counts, trial.errors) == (None, None, {})
    assert (trial.requests_ok, trial.tool_errors) == (756, {"fail": 44, "": 44})


@pytest.mark.parametrize("text", [TEXT[: TEXT.rindex("Request label")], CSV, XML])
def test_what_was_cut_off_anywhere_is_refused_or_says_less_but_never_otherwise(text):
    (whole,) = read(text)
    for cut in range(0, len(text), 7):
        try:
            trials = read(text[:cut])
        except FormatError:
            continue
        assert {trial.requests_ok for trial in trials} <= {whole.requests_ok}
        for trial in trials:
            assert trial.latency.percentiles.items() <= whole.latency.percentiles.items()
            assert trial.incomplete or trial.latency.mean_us in (None, whole.latency.mean_us)


def test_rows_of_two_runs_below_one_header_are_refused():
    group = XML[XML.index("  <Group") : XML.index("</FinalStatus>")]
    for text in (CSV + CSV.partition("\n")[2], XML.replace(group, group + group)):
        with pytest.raises(FormatError, match="rows of several runs"):
            read(text)


def test_dumps_of_two_runs_in_one_text_are_two_trials():
    dump = (CAPTURES / "apiritif-500s" / "stats.csv").read_text()
    document = (CAPTURES / "apiritif-500s" / "stats.xml").read_text()
    for first, second in ((CSV, dump), (XML, document), (XML, OLD), (OLD, XML)):
        alone = [trial.figures() for text in (first, second) for trial in read(text)]
        assert [trial.figures() for trial in read(first + second)] == alone


def test_the_xml_beside_a_text_of_the_same_run_is_one_trial_that_says_so():
    (trial,) = read(TEXT + XML)
    assert "of the same run, as XML" in trial.notes[0]

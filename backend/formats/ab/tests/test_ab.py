import re
from pathlib import Path

import pytest

from backend.formats import FormatError, RawArtefact, parse

CAPTURES = Path(__file__).parent / "captures"
REPORT = (CAPTURES / "rand-c10-tsv-csv" / "stdout").read_text()
TSV = (CAPTURES / "rand-c10-tsv-csv" / "plot.tsv").read_text()
HEADLESS = REPORT[REPORT.index("Server Software") :]


def read(*texts):
    return parse(
        [
            RawArtefact.of(f"file{at}", text if isinstance(text, bytes) else text.encode())
            for at, text in enumerate(texts)
        ]
    )


def reordered(*columns):
    rows = [line.split("\t") for line in TSV.splitlines()]
    return "\n".join("\t".join(row[column] for column in columns) for row in rows) + "\n"


def test_without_its_banner_a_report_says_the_same_but_the_version():
    (whole,), (headless,) = read(REPORT), read(HEADLESS)
    assert headless.tool_version is None
    assert headless.as_dict() == {**whole.as_dict(), "tool_version": None}


def test_each_run_without_banner_is_an_entry():
    runs = read(HEADLESS + "\n$ ab -n 1000 again\n" + HEADLESS + REPORT)
    assert [run.tool_version for run in runs] == [None, None, "2.3"]


@pytest.mark.parametrize("cut", range(500, len(REPORT), 3))
def test_no_figure_that_may_be_cut_off_is_believed(cut):
    (whole,) = read(REPORT)
    try:
        (trial,) = read(REPORT[:cut])
    except FormatError:
        return
    for name in ("reported_rps", "transfer_rate_bytes_s", "bytes_received"):
        assert getattr(trial, name) in (None, getattr(whole, name))
    assert trial.latency.max_us in (None, whole.latency.max_us)
    assert trial.latency.percentiles.items() <= whole.latency.percentiles.items()


def test_a_run_without_an_answer_is_not_called_cut_off():
    silent = re.sub("(Complete requests: +)1000", r"\g<1>0", REPORT)
    silent = re.sub("(?m)^Requests per second.*\n", "", silent)
    with pytest.raises(FormatError, match=r"ab completed no request in [0-9.]+ s\.") as refused:
        read(silent)
    assert refused.value.found.split() == ["Complete", "requests:", "0"]


@pytest.mark.parametrize("count", ["1,000", "1 000", "1\u202f000", "1'000"])
def test_thousands_may_be_separated(count):
    (trial,) = read(re.sub("(Complete requests: +)1000", lambda found: found[1] + count, REPORT))
    assert trial.requests_completed == 1000


@pytest.mark.parametrize("count", ["10 00", "1,00", "1.000", "1000x"])
def test_a_count_that_is_none_is_named(count):
    with pytest.raises(FormatError, match="no number as its Complete requests") as refused:
        read(re.sub("(Complete requests: +)1000", rf"\g<1>{count}", REPORT))
    assert refused.value.line == 17


def test_a_decimal_comma_is_no_thousand():
    with pytest.raises(FormatError, match="no number as its Time taken for tests"):
        read(re.sub(r"(Time taken for tests: +)\S+", r"\g<1>0,620", REPORT))


def test_runs_that_were_all_refused_are_entries_that_say_why():
    banner = "This is ApacheBench, Version 2.3 <$Revision: 1 $>\n"
    why = "Benchmarking a.test (be patient)...apr_socket_connect(): Connection refused (111)\n"
    first, second = read(banner + why + "$ ab -n 1 a.test/\n" + banner + why)
    assert (first.line, second.line) == (2, 5)
    assert "Connection refused" in first.found


@pytest.mark.parametrize(
    "packed",
    [
        TSV.encode("utf-16"),
        b"\xef\xbb\xbf" + TSV.encode(),
        TSV.replace("\n", "\r\n"),
        TSV.replace("\t", "    "),
        "$ cat plot.tsv\n" + TSV,
        reordered(5, 4, 3, 2, 1, 0),
        reordered(0, 1, 2, 3, 5, 4),
        reordered(0, 1, 2, 3, 4, 5, 3),
    ],
    ids=["utf-16", "mark", "crlf", "spaces", "prompt", "reversed", "last", "extra"],
)
def test_rows_are_found_however_they_were_saved(packed):
    if isinstance(packed, str) and packed.count("dtime") == 2:
        packed = packed.replace("dtime", "more", 1)
    (plain,), (trial,) = read(TSV), read(packed)
    assert trial.samples == plain.samples == 1000
    assert trial.histogram.encode() == plain.histogram.encode()


def test_a_last_row_whose_total_may_be_cut_off_is_left_out():
    (trial,) = read(reordered(0, 1, 2, 3, 5, 4)[:-2])
    assert trial.samples == 999


def test_rows_of_another_run_with_as_many_requests_are_a_disagreement():
    rows = [line.split("\t") for line in TSV.splitlines()]
    slower = [[*row[:4], str(int(row[4]) + 5), row[5]] for row in rows[1:]]
    other = "\n".join("\t".join(row) for row in [rows[0], *slower]) + "\n"
    (same,), (trial,) = read(REPORT, TSV), read(REPORT, other)
    assert same.disagreements == ()
    assert any("p50 is 29 ms in the report" in found for found in trial.disagreements)


def test_the_software_of_the_answers_is_read_and_cut():
    line = re.search("Server Software: .*", REPORT).group()
    (named,) = read(REPORT.replace(line, "Server Software: nginx/1.22.1"))
    assert named.server_software == "nginx/1.22.1"
    (long,) = read(REPORT.replace(line, "Server Software: " + "x" * 5_000))
    assert long.server_software == "x" * 100

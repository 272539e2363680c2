from pathlib import Path

import numpy as np
import pytest

from backend.formats import FormatError, RawArtefact, parse
from backend.formats.jmeter import rows
from backend.formats.jmeter.layout import layout_of
from backend.formats.jmeter.samples import error_class
from backend.formats.text import Source
from backend.stats import Histogram

CAPTURES = Path(__file__).parent / "captures"
DEFAULT = (
    "timeStamp,elapsed,label,responseCode,responseMessage,threadName,dataType,success,"
    "failureMessage,bytes,sentBytes,grpThreads,allThreads,URL,Latency,IdleTime,Connect\n"
)
ROW = "1795229659431,391,GET /,200,OK,load 1-1,text,true,,185,118,1,1,http://a/,338,0,248\n"
LOST = "Non HTTP response code: java.net."


def capture(path):
    return (CAPTURES / path).read_bytes()


def read(*texts):
    datas = [text if isinstance(text, bytes) else text.encode() for text in texts]
    return parse([RawArtefact.of(str(number), data) for number, data in enumerate(datas)])


def only(*texts):
    (trial,) = read(*texts)
    return trial


def refused(*texts):
    with pytest.raises(FormatError) as refusal:
        read(*texts)
    return refusal.value


def test_columns_in_any_order_with_any_delimiter():
    trial = only(
        "success|bytes|elapsed|mine|timeStamp|responseCode\n"
        "true|10|5|x|1795229659000|200\nfalse|20|7|y|1795229660000|503\n"
    )
    assert (trial.requests_completed, trial.requests_ok, trial.bytes_received) == (2, 1, 30)
    assert (trial.elapsed_s, trial.errors["status"], trial.latency.max_us) == (1.007, 1, 7000)


def test_a_quoted_cell_may_hold_line_breaks_delimiters_and_quotes():
    odd = ROW.replace(",true,,", ',false,"expected ""a,b""\n\n1795229659431,1,x\nto match",')
    trial = only(DEFAULT + ROW + odd + ROW)
    assert (trial.samples, trial.requests_ok) == (3, 2)
    assert 'expected "a,b"' in next(iter(trial.tool_errors))


def test_chunks_that_end_within_a_quoted_cell_give_the_same(monkeypatch):
    odd = ROW.replace(",true,,", ',false,"one\ntwo\nthree",')
    text = DEFAULT + (ROW + odd) * 40
    whole = only(text)
    monkeypatch.setattr(rows, "CHUNK_BYTES", 150)
    assert only(text) == whole
    assert whole.tool_errors == {"one\ntwo\nthree": 40}


def test_parts_are_known_across_chunks(monkeypatch):
    text = capture("redirect-csv/results.jtl")
    whole = only(text)
    monkeypatch.setattr(rows, "CHUNK_BYTES", 700)
    assert only(text) == whole


def test_labels_that_end_in_a_number_are_requests():
    other = ROW.replace("GET /", "GET /-1").replace("1795229659431", "1795229659900")
    assert only(DEFAULT + ROW + other).samples == 2


def test_a_quote_that_never_closes_swallows_no_rows():
    broken = ROW.replace(",true,,", ',true,"')
    assert "not closed" in str(refused(DEFAULT + ROW + broken + ROW * 3))


@pytest.mark.parametrize(
    ("wrong", "line"),
    [
        (ROW.replace("391", "x"), 3),
        (ROW.replace("391", "-1"), 3),
        (ROW.replace("391", "99999999999"), 3),
        (ROW.replace("1795229659431", ""), 3),
        (ROW.replace(",1,1,", ",1,"), 3),
        (ROW.rstrip("\n") + "," + ROW, 3),
    ],
)
def test_a_row_that_is_none_is_named(wrong, line):
    assert refused(DEFAULT + ROW + wrong + ROW).line == line


def test_a_last_row_cut_off_is_left_out_and_said():
    trial = only(DEFAULT + ROW + ROW[:40])
    assert (trial.samples, trial.incomplete) == (1, True)


def test_rows_without_any_request_are_refused():
    summed = ROW.replace("OK", '"Number of samples in transaction : 2, number of failing : 0"')
    assert "no samples" in str(refused(DEFAULT + summed))


def test_rows_that_stand_for_several_samples_are_refused():
    text = "timeStamp,elapsed,label,success,SampleCount,ErrorCount\n1795229659431,9,a,true,5,0\n"
    assert "several samples" in str(refused(text))


@pytest.mark.parametrize(
    "stamp", ["2026/11/21 02:54:17.500", "2026-11-21T02:54:17.500Z", "11/21/26 02:54:17"]
)
def test_dates_give_the_time_between_rows(stamp):
    later = stamp.replace(":17", ":19")
    text = DEFAULT + ROW.replace("1795229659431", stamp) + ROW.replace("1795229659431", later)
    assert only(text).elapsed_s == 2.391


def test_a_date_of_unknown_pattern_gives_no_time():
    odd = ROW.replace("1795229659431", "Sat Nov 21 02:54:17 2026")
    trial = only(DEFAULT + odd)
    assert (trial.elapsed_s, trial.timeline, trial.requests_completed) == (None, (), 1)


def test_columns_without_a_header_are_told_by_what_is_in_them():
    text = capture("assertion-reset-noheader/results.jtl")
    layout = layout_of(Source(RawArtefact.of("x", text)))
    assert not layout.has_header
    assert [name for name in layout.names if name[0] != "?"] == [
        *("timeStamp", "elapsed", "label", "responseCode", "responseMessage"),
        *("dataType", "success", "failureMessage", "bytes"),
    ]


def test_each_second_has_its_answers_and_failures():
    trial = only(capture("c20-hang-rt500-csv/results.jtl"))
    assert sum(part.completed for part in trial.timeline) == trial.requests_completed
    assert sum(part.failed for part in trial.timeline) == 44
    merged = Histogram.merge_all(
        Histogram.decode(part.histogram) for part in trial.timeline if part.histogram
    )
    assert merged.encode() == trial.histogram.encode()


def test_the_histogram_holds_every_sample():
    text = capture("c10-n2000-csv/results.jtl").decode()
    elapsed = np.array([int(line.split(",")[1]) for line in text.splitlines()[1:]])
    trial = only(text)
    nearest = np.sort(elapsed)[int(np.ceil(0.99 * len(elapsed))) - 1]
    assert trial.histogram.percentile(99) == pytest.approx(nearest * 1000, rel=1e-3)


@pytest.mark.parametrize(
    ("code", "message", "expected"),
    [
        ("org.apache.http.conn.HttpHostConnectException", "Connection refused", "connect"),
        ("java.net.SocketTimeoutException", "Read timed out", "timeout"),
        ("org.apache.http.conn.HttpHostConnectException", "Connection timed out", "timeout"),
        ("java.net.SocketException", "Connection reset", "read"),
        ("java.net.SocketException", "Broken pipe", "write"),
        ("org.apache.http.NoHttpResponseException", "failed to respond", "read"),
        ("java.io.IOException", "Exceeded maximum number of redirects: 20", "other"),
    ],
)
def test_exceptions_have_classes(code, message, expected):
    assert error_class(LOST + code, message) == expected


XML = '<?xml version="1.0" encoding="UTF-8"?>\n<testResults version="1.2">\n'
SAMPLE = '<httpSample t="5" ts="1795229659431" s="true" lb="a" rc="200" rm="OK" by="7"/>\n'


def test_xml_of_jmeter_2_0_has_long_names():
    trial = only(
        '<testResults><sampleResult timeStamp="1795229659431" time="5" label="a" '
        'responseCode="200" responseMessage="OK" success="true"/></testResults>'
    )
    assert (trial.samples, trial.latency.max_us, trial.bytes_received) == (1, 5000, None)


@pytest.mark.parametrize(
    "inside",
    [
        '<!DOCTYPE t [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;&a;">]>' + XML.split("\n")[1],
        XML + SAMPLE + "<httpSample",
        XML + SAMPLE,
        XML + "<sample>" * 300,
        XML + '<httpSample t="-5" rc="200"/></testResults>',
        XML + '<httpSample rc="200"/></testResults>',
        XML + "</testResults>",
        "<html><testResults></testResults></html>",
    ],
)
def test_xml_that_is_no_whole_jtl_is_refused(inside):
    assert "Expected:" in str(refused(inside))


def test_two_documents_in_one_file_are_two_trials():
    document = XML + SAMPLE + "</testResults>\n"
    first, second = read(document + document.replace('t="5"', 't="7"'))
    maxima_us = [trial.histogram.max_us for trial in (first, second)]
    assert maxima_us == pytest.approx([5000, 7000], rel=0.001)


def test_a_tag_without_an_end_is_stopped():
    assert refused(XML + '<httpSample lb="' + "x" * (6 << 20)).reason


def test_what_stands_around_xml_is_passed_over():
    assert only("$ cat results.jtl\n" + XML + SAMPLE + "</testResults>\n$ \n").samples == 1


STARTED = "Creating summariser <summary>\nStarting standalone test @ 2026 Nov 21\n"
TOTAL = (
    "summary =   5000 in 00:01:02 =  80,6/s Avg:   100 Min:    10 Max:   417 Err:     3 (0,06%)\n"
)


def test_a_summary_of_any_locale_and_name():
    trial = only(
        STARTED + TOTAL.replace("summary", "Generate Summary Results") + "... end of run\n"
    )
    assert (trial.elapsed_s, trial.reported_rps, trial.requests_ok) == (62.0, 80.6, 4997)
    assert (trial.requests_completed, trial.incomplete) == (None, False)


def test_a_summary_of_old_versions():
    line = "Generate Summary Results =  5000 in    40.1s =  124.2/s Avg:   80 Min:    1 "
    trial = only(line + "Max:   500 Err:     0 (0.00%)\n")
    assert (trial.elapsed_s, trial.requests_completed, trial.incomplete) == (40.1, 5000, True)


def test_a_summary_in_the_log():
    trial = only("2026-11-21 02:54:17,123 INFO o.a.j.r.Summariser: " + TOTAL)
    assert trial.requests_ok == 4997


@pytest.mark.parametrize("cut", range(0, len(STARTED + TOTAL), 3))
def test_a_run_cut_off_has_no_totals(cut):
    text = STARTED + TOTAL
    if text[:cut].strip():
        assert refused(text[:cut])


def test_two_runs_are_two_entries():
    first, second = read((STARTED + TOTAL + "... end of run\n") * 2)
    assert first.figures() == second.figures()
    assert (first.lines[0], second.lines[0]) == (1, first.lines[1] + 1)


def test_log_and_summary_that_differ_are_said():
    log, summary = (capture(f"c10-n2000-csv/{name}") for name in ("results.jtl", "stdout"))
    assert only(log, summary).disagreements == ()
    shorter = b"\n".join(log.split(b"\n")[:1000]) + b"\n"
    assert "2000 samples, the JTL has 999" in only(shorter, summary).disagreements[0]


def test_two_logs_are_not_one_trial():
    assert "do not belong to one trial" in str(refused(DEFAULT + ROW, DEFAULT + ROW + ROW))


def test_a_first_row_without_a_header_that_was_damaged_is_refused_and_not_passed_over():
    assert only("$ cat results.jtl\n" + ROW * 3).samples == 3
    assert refused("10 % done\r" + ROW + ROW * 2).line == 1
    assert refused(ROW.replace(",391,", ",") + ROW * 2).line == 1


def test_rows_that_may_be_parts_of_others_are_refused_without_times():
    rows = DEFAULT + ROW + ROW.replace("GET /", "GET /-0")
    assert only(rows).requests_completed == 1
    refusal = refused(rows.replace("1795229659431", "Nov 21"))
    assert refusal.found == "GET /-0"
    assert only((DEFAULT + ROW * 2).replace("1795229659431", "Nov 21")).requests_completed == 2

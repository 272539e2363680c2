from pathlib import Path

import pytest

from backend.formats import FormatError, RawArtefact, parse

CAPTURES = Path(__file__).parent / "captures"
TEXT = (CAPTURES / "c10-2s-text" / "stdout").read_text()
ROUNDS = (CAPTURES / "c5-2s-500s-pct-two-rounds" / "stdout").read_text()
RESETS = (CAPTURES / "resets-text" / "stdout").read_text()
JSON = (CAPTURES / "c4-1s-json" / "stdout").read_text()


def read(text):
    return parse([RawArtefact.of("output", text.encode())])


def test_the_table_of_pct_holds_no_percentiles():
    """Its figures are means of the slowest requests, which are above the percentile."""
    first, second = read(ROUNDS)
    assert first.latency.percentiles == second.latency.percentiles == {}
    assert first.extra["slowest_mean_us"]["1"] == 18_970
    assert first.latency_origin == "summary"


def test_failed_attempts_are_in_the_total_and_are_no_responses():
    (trial,) = read(RESETS)
    assert (trial.requests_completed, trial.errors["read"]) == (2455 - 169, 169)
    assert trial.measured_s == pytest.approx(2455 / 1227.89)
    other = RESETS.replace(
        "169 Errors: connection closed", "3 Errors: operation timed out\n1 Errors: x"
    )
    (trial,) = read(other)
    assert (trial.errors["timeout"], trial.errors["other"]) == (3, 1)


def test_errors_that_may_be_cut_off_are_unknown():
    for end in ("\n\n169", " closed"):
        (trial,) = read(RESETS[: RESETS.index(end)])
        assert trial.errors == {}
    (trial,) = read(RESETS.replace("169 Errors", "$ exit\n169 Errors"))
    assert trial.errors["read"] == 0


def test_the_json_says_nothing_of_failures():
    (trial,) = read(JSON)
    assert (trial.errors, trial.requests_ok) == ({}, None)
    (empty,) = read(
        '{"latency_avg":null,"latency_max":null,"latency_min":null,"latency_std_deviation":null,'
        '"transfer_total":null,"transfer_rate":null,"requests_total":0,"requests_avg":null}'
    )
    assert (empty.requests_completed, empty.latency_origin) == (0, None)
    with pytest.raises(FormatError, match="missing or invalid figure"):
        read(JSON.replace('"requests_total":', '"requests_total":-'))


@pytest.mark.parametrize(
    ("words", "seconds"),
    [
        ("5 seconds", 5),
        ("1 minute(s), 1 second(s)", 61),
        ("1 day(s), 2 hour(s), 3 minute(s)", 93_780),
        ("a while", None),
    ],
)
def test_the_duration_is_written_out(words, seconds):
    assert read(TEXT.replace("2 second(s)", words))[0].requested_duration_s == seconds


def test_a_report_without_its_first_lines_is_read():
    (trial,) = read(TEXT[TEXT.index("  Latencies") :])
    assert (trial.url, trial.connections, trial.requests_completed) == (None, None, 44417)


def test_a_round_without_responses_has_none():
    (trial,) = read(TEXT[: TEXT.index("  Latencies")] + "No requests completed successfully\n\n")
    assert (trial.requests_completed, trial.connections) == (0, 10)


def test_a_run_that_could_not_connect_is_refused():
    stdout, stderr = (
        (CAPTURES / "refused-text" / name).read_text() for name in ("stdout", "stderr")
    )
    with pytest.raises(FormatError, match="could not connect"):
        read(stdout + stderr)


@pytest.mark.parametrize("cut", range(len(TEXT)))
def test_a_cut_off_report_is_refused_or_says_less_but_never_otherwise(cut):
    (whole,) = read(RESETS)
    try:
        (trial,) = read(RESETS[:cut])
    except FormatError:
        return
    assert trial.requests_completed in (2455, 2286)
    assert trial.latency == whole.latency
    assert trial.reported_rps == whole.reported_rps
    assert trial.errors in ({}, whole.errors) or RESETS[:cut].endswith("/Sec\n\n")


def test_a_text_that_may_lack_its_errors_is_incomplete():
    text = (CAPTURES / "resets-pct-text" / "stdout").read_text()
    above = text[: text.index("8766 Errors")].rstrip()
    assert parse([RawArtefact.of("stdout", above.encode())])[0].incomplete
    assert not parse([RawArtefact.of("stdout", text.encode())])[0].incomplete

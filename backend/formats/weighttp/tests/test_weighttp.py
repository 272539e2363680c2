from pathlib import Path

import pytest

from backend.formats import FormatError, RawArtefact, parse

CAPTURES = Path(__file__).parent / "captures"


def text_of(case, name="stdout"):
    return (CAPTURES / case / name).read_text()


def runs_of(*texts):
    return parse([RawArtefact.of(f"file{n}", text.encode()) for n, text in enumerate(texts)])


OLD, JSON = text_of("v04-err500-c10"), text_of("v05-keepalive-c100-10k-csv")
QUIET, CURVE = text_of("v05-err500-quiet-d"), text_of("v05-keepalive-c100-10k-csv", "times.csv")
STATUS_LINE = "status codes: 922 2xx, 0 3xx, 0 4xx, 78 5xx\n"


def test_each_run_of_a_paste_is_read_for_itself():
    runs = runs_of(f"{OLD}$ weighttp -n 5000\n{JSON}{QUIET}{OLD}")
    assert [(run.requests_completed, run.connections) for run in runs] == [
        (1000, 10),
        (5000, 100),
        (1000, None),
        (1000, 10),
    ]


def test_a_broken_run_is_a_refusal_between_the_others():
    first, broken, last = runs_of(f"{OLD}{JSON[:900]}\n{OLD}")
    assert isinstance(broken, FormatError)
    assert broken.line > 20
    assert first.requests_completed == last.requests_completed == 1000


def test_before_0_3_no_status_is_printed_and_failures_are_of_no_known_class():
    (failing,) = runs_of(OLD.replace(STATUS_LINE, ""))
    assert (failing.status_counts, failing.requests_completed) == (None, None)
    assert failing.errors == {}
    assert (failing.requests_ok, failing.incomplete) == (922, False)
    fine = text_of("v03-close-c1").replace("status codes: 500 2xx, 0 3xx, 0 4xx, 0 5xx\n", "")
    (trial,) = runs_of(fine)
    assert trial.requests_completed == 500


def test_failures_without_a_status_are_other_errors():
    text = OLD.replace(STATUS_LINE, "status codes: 922 2xx, 0 3xx, 10 4xx, 60 5xx\n")
    (trial,) = runs_of(text)
    assert (trial.errors["status"], trial.errors["other"]) == (70, 8)


def test_threads_that_are_not_all_there_are_unknown():
    eaten = JSON.replace("spawning thread #2: 50 concurrent requests, 2500 total requests\n", "")
    (trial,) = runs_of(eaten)
    assert (trial.threads, trial.connections, trial.requested_requests) == (None, None, None)


@pytest.mark.parametrize(
    ("text", "said", "damaged"),
    [
        (OLD, "922 succeeded", "923 succeeded"),
        (OLD, "98872 bytes http", "9887 bytes http"),
        (OLD, "1000 done", "10o0 done"),
        (JSON, '"pass": 5000', '"pass": 500'),
        (JSON, '"bytes_body":        50000000', '"bytes_body":        5000000'),
        (JSON, '"retired":    5000', '"retired":    -5000'),
        (JSON, '"99%":     14967', '"99%":     1497'),
        (JSON, '"unit": "us"', '"unit": "ms"'),
        (CURVE, "\n50,5388", "\n50,538"),
        (CURVE, "\n50,5388\n", "\n"),
    ],
)
def test_figures_that_cannot_be_are_refused(text, said, damaged):
    assert said in text
    with pytest.raises(FormatError) as refused:
        runs_of(text.replace(said, damaged))
    assert refused.value.expected


@pytest.mark.parametrize(
    ("text", "said", "damaged"),
    [(OLD, "2796 req/s", "3796 req/s"), (JSON, '"reqs_per_sec": 15991', '"reqs_per_sec": 1599')],
)
def test_a_rate_that_contradicts_its_count_is_a_disagreement(text, said, damaged):
    (trial,) = runs_of(text.replace(said, damaged))
    assert "requests done in" in trial.disagreements[0]


def test_a_curve_of_another_run_is_a_disagreement():
    (own,) = runs_of(JSON, CURVE)
    assert own.disagreements == ()
    (other,) = runs_of(text_of("v05-close-c10-rand"), CURVE)
    assert "p99 is 52543 µs in the report and 14967 µs in the CSV" in other.disagreements


def test_two_curves_are_not_of_one_trial():
    with pytest.raises(FormatError, match="do not belong to one trial"):
        runs_of(CURVE, CURVE)


def test_the_last_row_of_a_curve_may_be_cut_off_within_its_number():
    (trial,) = runs_of(CURVE.rstrip("\n"))
    assert trial.incomplete
    assert "100" not in trial.latency.percentiles
    assert trial.latency.max_us is None


@pytest.mark.parametrize("text", [OLD, JSON, CURVE], ids=["text", "json", "csv"])
def test_an_output_cut_anywhere_has_no_wrong_number(text):
    (whole,) = runs_of(text)
    for cut in range(0, len(text), 5):
        try:
            (trial,) = runs_of(text[:cut])
        except FormatError:
            continue
        assert trial.incomplete or trial.as_dict() == whole.as_dict()
        assert trial.requests_completed in (None, whole.requests_completed)
        assert trial.latency.percentiles.items() <= whole.latency.percentiles.items()
        for name, count in trial.errors.items():
            assert count in (None, whole.errors[name])

import textwrap
from pathlib import Path

import pytest

from backend.formats import FormatError, RawArtefact, parse

CAPTURES = Path(__file__).parent / "captures"


def text_of(case):
    return (CAPTURES / case / "stdout").read_text()


def runs_of(text):
    return parse([RawArtefact.of("stdout", text.encode())])


CLIENT, TWO_CALLS = text_of("second-of-two-clients"), text_of("interrupted-404")
LIFETIMES, SESSIONS = text_of("verbose-twice"), text_of("wsess-sessions")


def test_reply_rates_are_a_timeline_that_starts_when_the_client_does():
    (trial,) = runs_of(CLIENT)
    assert [(s.start_s, s.length_s, s.reported_rps) for s in trial.timeline] == [
        (0.0, 5.0, 79.8),
        (5.0, 5.0, 80.2),
    ]
    (first,) = runs_of(CLIENT.replace("--client=1/2", "--client=0/2"))
    assert [(s.start_s, s.length_s) for s in first.timeline] == [(0.0, 2.5), (2.5, 5.0)]


def test_reply_rates_with_one_missing_are_no_timeline():
    (trial,) = runs_of(CLIENT.replace("reply-rate = 79.8    \n", ""))
    assert trial.timeline == ()


def test_lifetimes_are_a_histogram_of_the_latency():
    (trial,) = runs_of(LIFETIMES)
    assert trial.histogram.count == 100
    # The first and the last bin are 1.5 and 25.5 ms; the median httperf prints is 11.5 ms.
    assert trial.histogram.min_us == pytest.approx(1500, rel=1e-3)
    assert trial.histogram.max_us == pytest.approx(25500, rel=1e-3)
    assert trial.histogram.percentile(50) == pytest.approx(11500, rel=1e-3)


def test_lifetimes_with_a_line_missing_are_no_histogram():
    (trial,) = runs_of(LIFETIMES.replace("             3.5 6\n", ""))
    assert (trial.histogram, trial.latency_origin) == (None, "summary")


@pytest.mark.parametrize("dash", ["–", "—", "−"])
def test_dashes_of_word_processors_are_hyphens(dash):
    assert runs_of(CLIENT.replace("--", dash)) == runs_of(CLIENT)


def wrapped_at_words(line):
    return textwrap.fill(line, 60, break_on_hyphens=False, break_long_words=False)


def wrapped_by_a_terminal(line):
    return "\n".join(line[start : start + 80] for start in range(0, max(len(line), 1), 80))


@pytest.mark.parametrize("wrapped", [wrapped_at_words, wrapped_by_a_terminal])
def test_wrapped_lines_are_read_as_one(wrapped):
    (trial,) = runs_of("\n".join(map(wrapped, CLIENT.split("\n"))))
    (whole,) = runs_of(CLIENT)
    assert trial.as_dict() == whole.as_dict()
    assert trial.timeline == whole.timeline


def test_a_command_that_is_cut_off_says_nothing_in_its_last_word():
    (trial,) = runs_of(CLIENT.replace("--num-conns=1000 --num-calls=1", "--num-conns=10"))
    assert (trial.requested_requests, trial.requested_rate_rps) == (None, None)
    assert trial.loop == "open"


@pytest.mark.parametrize(
    ("given", "rate", "requests"),
    [
        ("--rate=1e+06 --client=0/1 --num-conns=5 --num-calls=2", 2e6, 10),
        ("--period=u0.01,0.03 --client=0/1 --num-conns=5 --num-calls=1", 50.0, 5),
        ("--period=v0.1,5,0.2,5 --client=0/1 --num-conns=5 --num-calls=1", None, 5),
        ("--rate=7 --client=0/1 --wsesslog=10,2.000,/tmp/log", None, None),
        ("--rate=7 --client=0/1 --wsess=10,3,0.500", 21.0, 30),
    ],
)
def test_what_was_asked_is_in_requests(given, rate, requests):
    (trial,) = runs_of(f"httperf {given}\n{TWO_CALLS[TWO_CALLS.index('Maximum') :]}")
    assert (trial.requested_rate_rps, trial.requested_requests) == (rate, requests)
    assert trial.loop == "open"


def test_each_run_of_a_paste_has_its_own_command():
    prompt = "$ httperf --server 127.0.0.1 --rate 80\n"
    first, second = runs_of(f"{prompt}{CLIENT}{prompt}{TWO_CALLS}")
    assert (first.requests_completed, first.requested_requests) == (1000, 1000)
    assert (second.requests_completed, second.requested_requests) == (199, 10000)


def test_a_run_that_was_killed_is_a_refusal_of_its_own():
    killed = CLIENT[: CLIENT.index("Maximum")]
    refused, trial = runs_of(f"{killed}^C\n{TWO_CALLS}")
    assert isinstance(refused, FormatError)
    assert trial.requests_completed == 199


def test_errors_by_class_and_by_name():
    counts = "Errors: total 36 client-timo 1 socket-timo 2 connrefused 3 connreset 4\n"
    more = "Errors: fd-unavail 5 addrunavail 6 ftab-full 7 other 8\n"
    (trial,) = runs_of(CLIENT[: CLIENT.index("Errors:")] + counts + more)
    by_class = {"connect": 3, "read": 4, "timeout": 1, "other": 2 + 8, "client": 5 + 6 + 7}
    assert trial.errors == by_class
    assert trial.client_errors == 18
    assert trial.tool_errors["ftab-full"] == 7


def test_without_the_second_line_of_errors_the_others_are_unknown():
    (trial,) = runs_of(CLIENT[: CLIENT.index("Errors: fd")])
    assert trial.incomplete
    assert trial.errors["connect"] == 0
    assert trial.errors["other"] is None


@pytest.mark.parametrize(
    ("said", "damaged"),
    [
        ("2xx=1000", "2xx=100"),
        ("client-timo 0", "client-timo 3"),
        ("replies 1000", "replies 10x0"),
    ],
)
def test_counts_that_do_not_add_up_are_refused(said, damaged):
    with pytest.raises(FormatError, match="Line ") as refused:
        runs_of(CLIENT.replace(said, damaged))
    assert refused.value.expected


def test_a_rate_that_contradicts_its_count_is_a_disagreement():
    (trial,) = runs_of(CLIENT.replace("Request rate: 80.0", "Request rate: 88.0"))
    assert "1000 requests sent in 12.493 s" in trial.disagreements[0]


def test_without_a_median_the_other_times_stand():
    (trial,) = runs_of(CLIENT.replace("median 11.5 ", ""))
    assert trial.latency.percentiles == {}
    assert (trial.latency.mean_us, trial.latency.stdev_us) == (12200.0, 7700.0)


@pytest.mark.parametrize("eaten", ["Connection time [ms]: min", "Connection length"])
def test_without_the_lines_that_say_which_time_it_is_latency_is_unknown(eaten):
    (trial,) = runs_of(CLIENT.replace(eaten, "[…]"))
    assert trial.latency.mean_us is None
    assert trial.latency_origin is None
    assert trial.extra["extra"]["reply_time_us"] == {"response": 12100.0, "transfer": 0.0}


def test_an_eaten_line_is_unknown():
    lines = [line for line in CLIENT.split("\n") if not line.startswith("Reply status")]
    (trial,) = runs_of("\n".join(lines))
    assert (trial.status_counts, trial.requests_ok) == (None, None)
    assert trial.requests_completed == 1000


@pytest.mark.parametrize(
    "text", [CLIENT, LIFETIMES, SESSIONS], ids=["client", "lifetimes", "wsess"]
)
def test_a_text_cut_anywhere_has_no_wrong_number(text):
    (whole,) = runs_of(text)
    for cut in range(0, len(text), 5):
        try:
            (trial,) = runs_of(text[:cut])
        except FormatError:
            continue
        assert (trial.requests_completed, trial.elapsed_s) == (
            whole.requests_completed,
            whole.elapsed_s,
        )
        assert trial.incomplete or trial == whole
        for name, count in trial.errors.items():
            assert count in (None, whole.errors[name])

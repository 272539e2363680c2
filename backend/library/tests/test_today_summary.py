"""The sentences about our own runs: which server is the fastest, and what was not ranked."""

import pytest

from backend.library.figure_table import figure_table
from backend.library.order import Candidate, ratio_text
from backend.library.study import find_study
from backend.library.summary import today_texts, versions_texts
from backend.library.today import Figure, Row, Today


def figure(*rates, version="1", load=" at 100 connections", failed=0.0, cpu_us=()):
    return Figure(load, version, rates, failed, cpu_us)


@pytest.mark.parametrize(
    ("rates", "text"),
    [((5,), ""), ((5, 5), ", 2 trials"), ((4, 9), ", 2 trials: 4 to 9")],
)
def test_a_figure_says_of_how_many_trials_it_is(rates, text):
    assert figure(*rates).text.partition(" (1)")[2] == text


@pytest.mark.parametrize(
    ("load", "point"),
    [
        (" at 1,024 connections", 1024.0),
        (" at a rate of 12,000", 12_000.0),
        (" at 64 connections, keep-alive of 5 s", 64.0),
        ("", None),
    ],
)
def test_a_load_point_is_the_first_number_of_its_label(load, point):
    assert Candidate("nginx", "hello", figure(100, load=load)).load_point == point


def summarised(monkeypatch, rows, *, load=0.1, others=None, **trials):
    today = Today("2026-11-22", 2, load, tuple(rows), others, **trials)
    monkeypatch.setattr("backend.library.summary.read_today", lambda _: today)
    return " ".join(today_texts(find_study("landshark-2010")))


def current(server, *rates, workload="hello", **more):
    """A row with a figure of the current version alone."""
    return Row(server, workload, None, None, figure(*rates, **more))


RULE = (
    "Each of these figures is the geometric mean of 3 trials. A server or version is called faster "
    "than another where each of its trials is faster than each trial of the other."
)
MACHINE = "Measured on 2026-11-22 on a virtual machine with 2 processors"


def test_the_table_has_no_column_without_figures():
    assert figure_table([current("nginx", 100.0)]) == (
        ["Server", "Workload", "Current version today"],
        [["nginx", "hello", "100 requests/s at 100 connections (1)"]],
    )
    assert figure_table([]).rows == []


def test_the_versions_of_today_are_told_by_old_and_current():
    texts = versions_texts(find_study("landshark-2010"))
    kinds = [text.partition(":")[0] for text in texts]
    assert kinds == ["Old and current", "Old alone", "Current alone"]
    assert "Tornado 0.2 and 6.6.1" in texts[0]
    assert texts[1] == "Old alone: fapws3 0.11.dev0."
    assert "WEBrick 1.8.1" in texts[2]
    assert not any("Landshark" in text for text in texts)


def test_a_server_is_the_fastest_where_no_trial_overlaps(monkeypatch):
    first = current("a", 900, 950, 1000)
    clear = summarised(monkeypatch, [first, current("b", 500, 600, 899)])
    assert clear == (
        f"Hello: a 1 is the fastest, with 949 requests/s at 100 connections. {RULE} {MACHINE}."
    )
    close = summarised(monkeypatch, [first, current("b, sync", 500, 600, 901)])
    assert (
        "Hello: a 1 leads with 949 requests/s at 100 connections, but its trials overlap those of "
        "b (sync) 1."
    ) in close


def test_what_may_mislead_about_the_trials_is_said(monkeypatch):
    first = current("a", 900, 950, 1000)
    cold = summarised(monkeypatch, [first], lasted_s=(0.1, 6.84), same_host=True)
    assert cold.endswith(
        "Trials took 0.1 to 6.84 s, without a warm-up before them. "
        "The load tool ran on the machine of the servers."
    )
    warm = summarised(monkeypatch, [first], lasted_s=(10, 10.2), is_warm=True, same_host=False)
    assert warm.endswith("Trials took 10 to 10.2 s.")


def test_many_that_overlap_are_counted(monkeypatch):
    others = [current(f"b{number}", 500, 600, 901) for number in range(4)]
    text = summarised(monkeypatch, [current("a", 900, 950, 1000), *others])
    assert "but its trials overlap those of 4 others." in text


def test_both_versions_of_a_server_take_part(monkeypatch):
    old, new = figure(900, 950, 1000, version="1"), figure(899, 940, 990, version="2")
    text = summarised(monkeypatch, [Row("a", "hello", None, old, new)])
    assert "but its trials overlap those of a 2." in text


def test_a_server_alone_has_won_nothing(monkeypatch):
    text = summarised(monkeypatch, [current("a", 9, 10, 11)])
    assert text.startswith("Hello: only a 1 was measured, with 10 requests/s at 100 connections.")


def test_servers_that_keep_the_offered_rate_are_in_no_order(monkeypatch):
    rows = [
        current("a", 3999, 4000, 4001, load=" at a rate of 4,000"),
        current("b", 3990, 3991, 3992, load=" at a rate of 4,000"),
        current("c", 3000, 3100, 3200, load=" at a rate of 4,000"),
        current("d", 500, 500, 500, load=" at a rate of 500"),
    ]
    text = summarised(monkeypatch, rows)
    assert text.startswith(
        "Hello: 2 of 4 versions keep the highest offered rate, 4,000 requests/s: a 1 and b 1. "
        "Which of them is the fastest was not measured: no higher rate was offered."
    )
    assert summarised(monkeypatch, rows[:2]) == (
        "Hello: both keep the highest offered rate, 4,000 requests/s. Which of them is "
        f"the fastest was not measured: no higher rate was offered. {MACHINE}."
    )
    alone = summarised(monkeypatch, rows[1:])
    assert "Hello: b 1 is the fastest, with 3,991 requests/s at a rate of 4,000." in alone


def test_the_processor_time_of_servers_that_keep_the_rate_is_told(monkeypatch):
    load = " at a rate of 4,000"
    rows = [
        current("a", 3999, 4000, 4001, load=load, cpu_us=(50.0, 51.0, 52.0)),
        current("b", 3999, 4000, 4001, load=load, cpu_us=(20.0, 20.0, 20.5)),
        current("c", 3999, 4000, 4001, load=load, cpu_us=(20.4, 21.0, 22.0)),
        current("slow", 3000, 3100, 3200, load=load, cpu_us=(10.0, 10.0, 10.0)),
    ]
    told = "Hello: b 1 used the least processor time, 20 µs for a request"
    ends = " a 1 used the most, 51 µs."
    text = summarised(monkeypatch, rows)
    assert f"{told}; its trials overlap those of c 1.{ends}" in text
    assert f"{told}.{ends}" in summarised(monkeypatch, [rows[0], rows[1], rows[3]])
    assert "processor time" not in summarised(monkeypatch, rows[1:2] + rows[3:])
    # The trials of the least and of the most overlap.
    assert "processor time" not in summarised(monkeypatch, rows[1:])


def test_offered_rates_and_connections_are_ranked_apart(monkeypatch):
    rows = [
        current("a", 5000, 5001, 5002),
        *(current(name, 3999, 4000, 4001, load=" at a rate of 4,000") for name in "bc"),
    ]
    text = summarised(monkeypatch, rows)
    assert "Hello: only a 1 was measured, with 5,001 requests/s at 100 connections." in text
    assert "Hello: both keep the highest offered rate, 4,000 requests/s." in text


@pytest.mark.parametrize(
    ("ratio", "text"),
    [
        (0.7, "0.700×"),
        (0.3228, "0.323×"),
        (1.04, "1.04×"),
        (12.34, "12.3×"),
        (1234, "1,230×"),
        (0.9996, "1.00×"),
        (9.996, "10.0×"),
        (99.96, "100×"),
        (999.6, "1,000×"),
    ],
)
def test_every_ratio_has_three_digits(ratio, text):
    assert ratio_text(ratio) == text


def test_what_failed_or_was_measured_once_is_not_ranked(monkeypatch):
    rows = [
        current("once", 2000),
        current("failing", 900, 950, 1000, failed=0.03),
        current("a", 600, 650, 700),
    ]
    text = summarised(monkeypatch, rows)
    assert text.startswith("Hello: only a 1 is ranked, with 649 requests/s at 100 connections.")
    assert (
        "Not ranked: once 1, hello (1 trial); failing 1, hello (up to 3 % of the requests failed)."
    ) in text
    assert not summarised(monkeypatch, rows[:1]).count("geometric mean")


def test_versions_differ_where_no_trial_overlaps(monkeypatch):
    old = figure(10, 11, 12)
    rows = [
        Row("up, sync", "w", None, None, None, (old, figure(20, 22, 24))),
        Row("down", "v", None, None, None, (old, figure(5, 5.5, 6))),
        Row("open", "w", None, None, None, (figure(10, 20, 30), figure(20, 22, 24))),
        Row("once", "w", None, None, None, (old, figure(99))),
    ]
    text = summarised(monkeypatch, rows)
    assert "Faster in the current version than in the old: up (sync), w 2.00×." in text
    assert "Slower in the current version than in the old: down, v 0.500×." in text
    assert "Too close to say which version is faster: open, w." in text
    assert "once" not in text


def test_versions_are_told_without_the_workload_where_there_is_one(monkeypatch):
    pair = figure(10, 11, 12), figure(20, 22, 24)
    text = summarised(monkeypatch, [Row("a", "hello", None, None, None, pair)])
    assert "Faster in the current version than in the old: a 2.00×." in text


def test_versions_that_keep_the_offered_rate_are_in_no_order(monkeypatch):
    load = " at a rate of 500"
    pair = figure(499, 499, 499, load=load), figure(500, 500, 500, load=load)
    assert summarised(monkeypatch, [Row("a", "pong", None, None, None, pair)]) == f"{MACHINE}."


def test_no_order_is_told_where_the_machine_was_busy(monkeypatch):
    old, new = figure(100, 101, 102), figure(200, 201, 202)
    rows = [
        Row("a", "hello", None, figure(900, 900, 900), None),
        Row("b", "hello", None, old, None, (old, new)),
    ]
    text = summarised(monkeypatch, rows, load=9.2)
    assert text == (
        "No order can be told: other programs kept the machine busy (load 9.2), so the "
        "figures are low and uneven. The highest figures are Hello: a 1 with 900 requests/s at "
        f"100 connections. {MACHINE}."
    )
    assert "a 1 is the fastest" in summarised(monkeypatch, rows)


@pytest.mark.parametrize(
    ("others", "begins", "ends"),
    [
        (0.34, "No order can be told: other programs used 34 % of the processors, so", "."),
        (0.08, "Hello: a 1 is the fastest", ", of which other programs used 8 %."),
        (-0.01, "Hello: a 1 is the fastest", ", of which other programs used less than 5 %."),
    ],
)
def test_what_others_used_in_the_trials_counts_more_than_the_load_before_the_run(
    monkeypatch, others, begins, ends
):
    rows = [current("a", 900, 950, 1000), current("b", 1, 2, 3)]
    text = summarised(monkeypatch, rows, load=9.2, others=others)
    assert text.startswith(begins)
    assert text.endswith(f"{MACHINE}{ends}")


def test_a_server_of_the_study_without_a_figure_of_today_is_named(monkeypatch):
    then, today = figure(700), figure(900)
    rows = [
        Row("gone", "hello", then, None, None),
        Row("same, as printed", "hello", then, None, None),
        Row("same", "hello", None, today, None),
        Row("new", "hello", None, None, today),
    ]
    assert " Not measured today: gone. Measured on" in summarised(monkeypatch, rows)
    assert "Not measured today" not in summarised(monkeypatch, rows[1:])


def test_a_study_that_was_not_measured_again_says_nothing(monkeypatch):
    assert summarised(monkeypatch, []) == ""

"""A series whose failed requests are unknown is never said to have none."""

import pytest

from backend.analysis.compare.tests.ranked_series import ask, by_name, server
from backend.testing.rows import make_run, make_workspace

pytestmark = pytest.mark.django_db


@pytest.fixture
def lab():
    return make_workspace("lab")


def finding(lab, *cells, text="metric=error_rate"):
    make_run(lab, *cells)
    return ask(lab, text)["finding"]


def test_that_no_request_failed_is_said_of_known_series_alone(lab):
    told = finding(lab, server("a", 1000.0), server("b", 900.0, error_rate=None))
    assert told == (
        "No request of a 23.0 failed at 64 connections. "
        "How many requests of b 23.0 failed is unknown"
    )
    row = by_name(ask(lab, "metric=error_rate"))["b"]
    assert row["value"] is None
    assert row["why"].startswith("Error rate is unknown.")


def test_series_without_a_known_rate_are_named_behind_the_worst(lab):
    unknown = [server(name, 900.0, error_rate=None) for name in "wxyz"]
    told = finding(lab, server("a", 1000.0), server("bad", 900.0, error_rate=0.14), *unknown)
    assert told == (
        "bad 23.0 failed most at 64 connections: 14 % of its requests. "
        "How many requests of w 23.0, x 23.0, y 23.0 and 1 more failed is unknown"
    )


def test_without_any_known_rate_no_load_tool_reports_failures(lab):
    told = finding(lab, server("a", 1000.0, error_rate=None), server("b", 900.0, error_rate=None))
    assert told == "No load tool here reports failed requests at 64 connections"


def test_known_series_alone_need_no_names(lab):
    assert finding(lab, server("a", 1000.0), server("b", 900.0)) == (
        "No request failed at 64 connections"
    )


def test_a_server_is_not_taken_without_a_word_on_its_unknown_failures(lab):
    make_run(lab, server("fast", 1600.0, error_rate=None), server("slow", 1000.0))
    figures = ask(lab)
    assert figures["answer"]["sentence"].startswith("Take fast 23.0 at 64 connections: 1,600 req/s")
    assert ", with an unknown number of failed requests" in figures["answer"]["sentence"]
    assert figures["finding"].endswith("How many requests of fast 23.0 failed is unknown")


def test_a_server_whose_failures_are_known_is_taken_as_before(lab):
    make_run(lab, server("fast", 1600.0), server("slow", 1000.0, error_rate=None))
    figures = ask(lab)
    assert "unknown" not in figures["answer"]["sentence"]
    assert "unknown" not in figures["finding"]

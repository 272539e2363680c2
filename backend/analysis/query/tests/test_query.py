"""The query string: what it may say, how it is spelled, what is said of a wrong one."""

import contextlib
import time

import pytest
from django.http import QueryDict

from backend.analysis.query.compare_query import QUERY_FIELDS, CompareQuery, QueryError

RUN = "6f1c1c1e-0000-4000-8000-000000000001"


def test_keys_and_values_are_sorted_and_defaults_left_out():
    text = "x=connections&server=sync&metric=throughput&logy=0&server=gthread&at=64.0&logx=1"
    assert CompareQuery.parse(text).canonical() == "at=64&logx=1&server=gthread&server=sync"


def test_empty_and_repeated_values_say_nothing():
    assert CompareQuery.parse("server=&tool=ab&tool=ab&metric=").canonical() == "tool=ab"


@pytest.mark.parametrize(
    "source",
    [
        f"?run={RUN}&server=a+b",
        {"run": [RUN], "server": "a b"},
        QueryDict(f"run={RUN}&server=a%20b"),
    ],
)
def test_every_way_to_give_it_reads_the_same(source):
    assert CompareQuery.parse(source).canonical() == f"run={RUN}&server=a+b"


def test_a_query_dict_keeps_every_value():
    assert CompareQuery.parse(QueryDict("server=b&server=a")).wanted("server") == ("a", "b")


def test_canonical_is_stable():
    once = CompareQuery.parse("server=caf%C3%A9+%26+co&at=0.5&baseline=00ff00ff&logx=0").canonical()
    assert CompareQuery.parse(once).canonical() == once


def test_hidden_series_and_the_zoom_are_part_of_the_link():
    query = CompareQuery.parse("zoom=64&zoom=8&hidden=00ff00ff&hidden=00aa00aa")
    assert query.canonical() == "hidden=00aa00aa&hidden=00ff00ff&zoom=64&zoom=8"


@pytest.mark.parametrize("at", ["1000000", "1234567", "0.1", "128"])
def test_a_load_point_survives_its_spelling(at):
    query = CompareQuery.parse(f"at={at}")
    assert CompareQuery.parse(query.canonical()).at == query.at == at


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("metrics=p99", "Did you mean metric?"),
        ("metric=p42", "throughput, goodput, .*p99.9"),
        ("facet=run", "server, version"),
        ("series=colour", "server, version"),
        ("view=pie", "sweep, nines"),
        ("since=yesterday", "a date like"),
        ("label=nightly", "key:value"),
        ("payload=many", "a number of bytes"),
        ("connections=few", "a number above 0"),
        ("limit=0", "a limit in µs"),
        ("hidden=nginx", "the id of a series"),
        ("zoom=1&zoom=8&zoom=64", "at most 2 values"),
        ("loop=round", "open, closed, unknown"),
        ("at=many", "a number above 0"),
        ("at=-1", "a number above 0"),
        ("at=nan", "a number above 0"),
        ("run=7", "a UUID"),
        ("baseline=best", "8 hexadecimal digits"),
        ("logx=yes", "0 or 1"),
        ("x=threads", "connections, rate"),
        ("metric=p50&metric=p99", "one value"),
        ("server=a%00b", "without NUL"),
        ("limit=1e20", "up to"),
        ("&".join(["server=query"] * 501), "at most 500 fields"),
        ("limit=1_000", "a number above 0"),
        ("limit=8.", "a number above 0"),
        ("connections=6_4", "a number above 0"),
        ("limit=\uff11", "a number above 0"),
        ("payload=\uff11", "a number of bytes"),
        ("foo=", "Did you mean|Fields are"),
        ("since=2026-05-01&until=2026-01-01", r"2026-05-01 \(since\) or a later day"),
    ],
)
def test_a_wrong_one_says_what_is_allowed(text, says):
    with pytest.raises(QueryError, match=says) as caught:
        CompareQuery.parse(text)
    assert caught.value.field in text
    assert caught.value.allowed


def test_an_unknown_field_lists_the_fields():
    with pytest.raises(QueryError) as caught:
        CompareQuery.parse("colour=red")
    assert all(field in str(caught.value) for field in QUERY_FIELDS)


@pytest.mark.parametrize("field", QUERY_FIELDS)
@pytest.mark.parametrize("end", ["", "x", ".", "e"])
def test_many_digits_are_refused_at_once(field, end):
    """8,000 digits and a letter took 0.9 s, and no other thread of the process ran meanwhile."""
    began_s = time.thread_time()
    with contextlib.suppress(QueryError):
        CompareQuery.parse(f"{field}=" + "1" * 60_000 + end)
    assert time.thread_time() - began_s < 0.5


@pytest.mark.parametrize("text", ["8", "8.5", ".5", "08", "1e3", "1.5E-3"])
def test_decimals_are_read(text):
    assert CompareQuery.parse(f"limit={text}").limit == float(text)


@pytest.mark.parametrize(
    "text", ["connections=1e300", "connections=8.5", "connections=2147483648", "rate=1e16"]
)
def test_a_load_that_no_run_can_have_is_refused(text):
    with pytest.raises(QueryError, match="number up to"):
        CompareQuery.parse(text)

"""Failures of the client's own host are told apart from those of the server, in every tool."""

import pytest

from backend.formats.artillery import counters as artillery
from backend.formats.gatling import errors as gatling
from backend.formats.jmeter.samples import error_class as class_of_sample
from backend.formats.locust import errors as locust
from backend.formats.model import CLIENT_CLASS, UNANSWERED_CLASSES, RawArtefact
from backend.formats.oha import errors as oha
from backend.formats.statuses import failed, redirects, succeeded
from backend.formats.text import Source
from backend.formats.transport_errors import counted_classes, error_class, is_whole_error
from backend.formats.tsung.log import claims_log, read_log

TSUNG = """# stats: dump at 1795230227
stats: request 100 1.5 0.1 2 1 0 0
stats: 200 100 100
stats: error_connect_eaddrnotavail 30 30
stats: error_connect_econnrefused 2 2
EndMonitor:{1,2,3}
"""


@pytest.mark.parametrize(
    "text",
    [
        'Get "http://h:1/": dial tcp 10.0.0.7:80: connect: cannot assign requested address',
        'Get "http://h:1/": dial tcp 10.0.0.7:80: socket: too many open files',
        "dial tcp: bind: address already in use",
        "connect: can't assign requested address",
        "bind: Only one usage of each socket address is normally permitted.",
        "connect: no buffer space available",
    ],
)
def test_texts_of_go_tools(text):
    assert error_class(text) == CLIENT_CLASS
    counts = counted_classes({text: 7, "dial tcp: connection refused": 2})
    assert counts == {**dict.fromkeys(UNANSWERED_CLASSES, 0), "connect": 2, CLIENT_CLASS: 7}


def test_a_whole_text_is_told_from_a_cut_one():
    assert is_whole_error("connect: cannot assign requested address")
    assert not is_whole_error("connect: cannot assign requested addr")


def test_an_address_in_the_text_is_no_error():
    assert error_class('Get "http://h/emfile": EOF') == "read"


@pytest.mark.parametrize(
    ("error_class", "text"),
    [
        (oha.class_of, "error trying to connect: Cannot assign requested address (os error 99)"),
        (oha.class_of, "Too many open files (os error 24)"),
        (gatling.error_class, "j.n.BindException: Address already in use"),
        (gatling.error_class, "i.n.c.AnnotatedSocketException: Cannot assign requested address"),
        (locust.error_class, "GET /: OSError(24, 'Too many open files')"),
        (lambda text: class_of_sample("java.net.NoRouteToHostException", text),
         "Cannot assign requested address (Address not available)"),
        (lambda text: class_of_sample("java.net.BindException", text), "Address in use"),
    ],
)  # fmt: skip
def test_texts_of_other_tools(error_class, text):
    assert error_class(text) == CLIENT_CLASS


def test_names_of_node():
    counts = artillery.by_class({"EADDRNOTAVAIL": 3, "EMFILE": 2, "ECONNREFUSED": 1})
    assert (counts[CLIENT_CLASS], counts["connect"], counts["other"]) == (5, 1, 0)


def test_counters_of_tsung():
    source = Source(RawArtefact.of("tsung.log", TSUNG.encode()))
    assert claims_log(source)
    (trial,) = read_log(source)
    assert (trial.client_errors, trial.error_counts["connect"]) == (30, 2)
    assert trial.as_dict()["client_errors"] == 30


def test_a_status_means_one_thing():
    statuses = {"101": 1, "200": 2, "204": 4, "302": 8, "304": 16, "404": 32, "503": 64, "999": 128}
    assert succeeded(statuses) == 2 + 4 + 8 + 16
    assert failed(statuses) == 32 + 64 + 128
    assert redirects(statuses) == 8
    assert succeeded({"2xx": 1, "3xx": 2, "4xx": 4}) == 3

"""The thread that reads the requests of all connections spends little on any of them."""

import time

import pytest
from django.http import parse_cookie
from waitress.adjustments import Adjustments

from backend.config.request_parser import CHUNK_LINE_BYTES, RequestParser
from backend.ingest.limits import HEADER_BYTES, HEADER_FIELD_BYTES

LONG = 60_000
TOKEN = "Authorization: Bearer good"
# Each took 2 to 16 s to read, and the first kept all threads waiting.
WORST = {
    "spaces": "A: " + " " * LONG + "\x01",
    "cookie": 'Cookie: a="' + "\\" * LONG + '"',
    "quoted cookie": 'Cookie: a="' + '\\"' * (LONG // 2) + '"',
    "media type": 'Content-Type: a/b;"' + ";" * LONG,
    "accepted types": 'Accept: a/b;"' + ";" * LONG,
}


def read(*fields, first="GET / HTTP/1.1"):
    parser = RequestParser(Adjustments(max_request_header_size=HEADER_BYTES))
    parser.received("\r\n".join([first, "Host: x", *fields, "", ""]).encode("latin-1"))
    return parser


def refusal_of(parser):
    assert parser.completed
    return (parser.error.code, parser.error.body) if parser.error else None


@pytest.mark.parametrize("name", WORST)
def test_no_header_takes_long(name):
    began_s = time.thread_time()
    parser = read(WORST[name])
    parse_cookie(parser.headers.get("COOKIE", ""))
    assert time.thread_time() - began_s < 0.5
    assert (refusal_of(parser) is None) == ("cookie" in name)


@pytest.mark.parametrize("address", ["a://" + "1" * LONG, "a" * LONG + "://", "/" * LONG])
def test_no_address_takes_long(address):
    """The first was not refused after 4 minutes."""
    began_s = time.thread_time()
    parser = read(first=f"GET {address} HTTP/x")
    assert time.thread_time() - began_s < 0.5
    assert refusal_of(parser) == (400, "Start line is invalid")


def test_addresses_are_read_as_before():
    parser = read(first="GET http://a:80/b%20c?d=e#f HTTP/1.0")
    assert (parser.command, parser.version, parser.proxy_netloc) == ("GET", "1.0", "a:80")
    assert (parser.path, parser.query, parser.fragment) == ("/b c", "d=e", "f")
    assert refusal_of(read(first="GET /a b HTTP/1.1")) == (400, "Start line is invalid")


@pytest.mark.parametrize("name", ["Accept", "Content-Type"])
def test_a_media_type_above_the_limit_is_refused_by_its_name(name):
    allowed = f"{name}: " + "x" * HEADER_FIELD_BYTES
    assert refusal_of(read(allowed)) is None
    code, sentence = refusal_of(read(allowed + "x"))
    assert code == 400
    assert sentence == f"The header {name} has 1,001 bytes; at most 1,000 are accepted"


def test_a_header_above_the_limit_is_refused():
    code, sentence = refusal_of(read("A: " + "x" * HEADER_BYTES))
    assert code == 431
    assert str(HEADER_BYTES) in sentence


def test_values_are_read_as_before():
    parser = read("A:\t  x \ty\xe4  ", "Empty:", "B: 1", "b: 2")
    assert parser.headers == {"HOST": "x", "A": "x \ty\xe4", "EMPTY": "", "B": "1, 2"}


@pytest.mark.parametrize("field", ["A : x", "A: x\x7f", "A: \x00", "no colon", ": x"])
def test_what_is_no_header_is_refused(field):
    assert refusal_of(read(field)) == (400, "Invalid header")


def test_cookies_with_a_backslash_are_left_out():
    parser = read('Cookie: first=1; other="a\\054b"; last="2"')
    assert parse_cookie(parser.headers["COOKIE"]) == {"first": "1", "last": "2"}


@pytest.mark.parametrize(
    ("first", "field"),
    [
        ("GET http://[ HTTP/1.1", "A: b"),
        ("POST / HTTP/1.1", "Content-Length: " + "1" * 5000),
    ],
)
def test_an_address_or_a_length_that_python_refuses_is_answered(first, field):
    """The connection was closed without an answer, with a traceback in the log."""
    code, sentence = refusal_of(read(field, first=first))
    assert (code, sentence) == (400, "The address or Content-Length is invalid")


@pytest.mark.parametrize("begun", [b"5;", b"0\r\nA: "])
def test_a_line_between_chunks_ends_at_the_limit(begun):
    """Each piece was added to a copy of the line: 257 MiB in pieces of 8 KiB are 4 TB of copies."""
    parser = read(TOKEN, "Transfer-Encoding: chunked", first="POST / HTTP/1.1")
    parser.received(begun)
    for _ in range(CHUNK_LINE_BYTES // 8192 - 1):
        parser.received(b"x" * 8192)
    assert not parser.completed
    parser.received(b"x" * 8192)
    assert refusal_of(parser) == (
        400,
        "A line between chunks has more than 16,384 bytes, the limit",
    )

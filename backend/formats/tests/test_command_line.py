"""What the command of a load tool asks for."""

import shlex

import pytest

from backend.formats.command_line import (
    asked_compression,
    asked_keepalive,
    asked_protocol,
    asked_rate,
    asked_requests,
)


@pytest.mark.parametrize(
    ("command", "requests"),
    [
        ("hey -n 1000 -c 10 http://a/", 1_000),
        # As many on each connection.
        ("hey -n 1000 -c 30 http://a/", 990),
        ("/usr/bin/hey http://a/", 200),
        ("hey -n=400 -o csv http://a/", 400),
        ("hey -z 10s -n 400 http://a/", None),
        ("oha -n 1000 -c 30 http://a/", 1_000),
        ("oha -n 1k http://a/", None),
        ("sh -c hey", None),
    ],
)
def test_the_number_of_requests_that_a_command_asks_for(command, requests):
    words = command.split()
    tool = "oha" if words[0] == "oha" else "hey"
    assert asked_requests(tool, words) == requests


def test_other_tools_print_the_number_themselves():
    assert asked_requests("wrk", ["wrk", "-n", "100"]) is None


@pytest.mark.parametrize(
    ("tool", "command", "is_asked"),
    [
        ("wrk", "wrk -c 10 http://a/", False),
        ("wrk", "wrk -H 'Accept-Encoding: gzip, deflate' http://a/", True),
        ("wrk", "wrk -H 'accept-encoding: identity' http://a/", False),
        ("ab", "ab -n 10 -H Accept-Encoding:gzip http://a/", True),
        ("autocannon", "autocannon -H accept-encoding=br http://a/", True),
        ("hey", "hey -n 10 http://a/", True),
        ("hey", "hey -n 10 -disable-compression http://a/", False),
        ("oha", "oha --disable-compression http://a/", False),
        ("vegeta", "vegeta attack -rate=10", True),
        ("wrk2", "/opt/wrk2/wrk -R 10 http://a/", False),
        # A script or a file of settings may set headers.
        ("wrk", "wrk -s post.lua http://a/", None),
        ("wrk", "wrk --script=post.lua http://a/", None),
        ("k6", "k6 run test.js", None),
        ("siege", "siege -c 10 http://a/", None),
        # Another program may start the tool in any way.
        ("wrk", "make bench", None),
        ("wrk", "", None),
    ],
)
def test_whether_a_command_asks_for_compressed_responses(tool, command, is_asked):
    assert asked_compression(tool, shlex.split(command)) is is_asked


@pytest.mark.parametrize(
    ("tool", "command", "rate_rps"),
    [
        ("vegeta", "vegeta attack -rate=100 -duration=3s", 100),
        ("vegeta", "echo 'GET http://a/' | vegeta attack -rate 100/s | vegeta report", 100),
        ("vegeta", "vegeta attack -rate=6000/1m", 100),
        ("vegeta", "vegeta attack -rate=50/500ms", 100),
        ("vegeta", "vegeta attack -rate=0 -max-workers=10", None),
        ("vegeta", "vegeta attack", None),
        ("wrk2", "wrk2 -t2 -c100 -R2000 http://a/", 2_000),
        ("wrk2", "wrk -t2 -c100 --rate 2k http://a/", 2_000),
        ("wrk2", "wrk -t2 -c100 --rate=1.5k http://a/", 1_500),
        ("wrk2", "wrk -t2 -c100 -R many http://a/", None),
        # They print it.
        ("oha", "oha -q 100 http://a/", None),
    ],
)
def test_the_rate_that_a_command_asks_for(tool, command, rate_rps):
    assert asked_rate(tool, shlex.split(command)) == rate_rps


@pytest.mark.parametrize(
    ("tool", "command", "protocol"),
    [
        ("hey", "hey -n 10 https://a/", "http/1.1"),
        ("hey", "hey -h2 -n 10 https://a/", "h2"),
        # It speaks HTTP/2 over TLS alone.
        ("hey", "hey -h2 -n 10 http://a/", "http/1.1"),
        ("oha", "oha --http2 http://a/", "h2c"),
        ("oha", "oha --http-version 2 https://a/", "h2"),
        ("oha", "oha --http-version=2 https://a/", "h2"),
        ("oha", "oha --http-version 1.1 https://a/", "http/1.1"),
        ("oha", "oha --http-version 3 https://a/", None),
        ("oha", "sh bench.sh", None),
        ("wrk", "wrk https://a/", None),
        ("hey", "", None),
    ],
)
def test_the_version_of_http_that_a_command_asks_for(tool, command, protocol):
    assert asked_protocol(tool, shlex.split(command)) == protocol


@pytest.mark.parametrize("tool", ["wrk", "wrk2", "hey", "oha", "vegeta", "autocannon"])
def test_long_words_of_strangers_are_read_in_no_time(tool):
    """A word may have 20,000 characters: a pattern that tries all ways to part them took hours."""
    blanks, digits = " " * 20_000, "9" * 20_000
    heads = ("accept-encoding:", "connection", "-Hconnection:", "--rate=", "--http-version=", "-n")
    words = [f"{head}{fill}\nx\ny" for head in heads for fill in (blanks, digits, "\n" * 20_000)]
    command = [tool, *words, "-n", digits]
    assert asked_rate(tool, command) is None
    assert asked_requests(tool, command) is None
    assert asked_protocol(tool, command) is None
    assert asked_keepalive(tool, command) is not False
    assert asked_compression(tool, command) is True

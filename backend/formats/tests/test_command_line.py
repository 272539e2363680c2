"""What the command of a load tool asks for."""

import pytest

from backend.formats.command_line import asked_requests


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

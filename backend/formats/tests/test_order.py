"""Errors stand in the same order however often an output is read."""

import pytest

from backend.formats import FormatError
from backend.formats.reading import parse
from backend.formats.tests.test_captures import EXPECTATIONS, FORMATS, artefact, files_of


def names_of_errors(expectation):
    try:
        entries = parse([artefact(path) for path in files_of(expectation)])
    except FormatError:
        return []
    return [
        list(entry.tool_errors)
        for entry in entries
        if not isinstance(entry, FormatError) and entry.samples and len(entry.tool_errors) > 1
    ]


LOGS = [
    path for path in EXPECTATIONS if path.relative_to(FORMATS).parts[0] in ("jmeter", "gatling")
]
ORDERS = [names for path in LOGS for names in names_of_errors(path)]


def test_some_logs_have_several_errors():
    assert len(ORDERS) >= 2


@pytest.mark.parametrize("names", ORDERS)
def test_errors_of_a_log_are_in_the_order_of_their_names(names):
    assert names == sorted(names)

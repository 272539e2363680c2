"""The unit of a printed time is read in every spelling, in every format that prints units."""

import re

import pytest

from backend.formats.tests.test_dress import read
from backend.formats.tests.test_pasted import REPORTS, name_of

MICRO = re.compile("(?<=[0-9])( ?)(?:us|\u00b5s|\u03bcs)(?![a-z])")
WITH_MICRO = [path for path in REPORTS if MICRO.search(path.read_text())]


@pytest.mark.parametrize("path", WITH_MICRO, ids=name_of)
def test_microseconds_are_read_in_every_spelling(path):
    text = path.read_text()
    for sign in ("us", "\u00b5s", "\u03bcs"):
        assert read(MICRO.sub(rf"\1{sign}", text)) == read(text), sign


def test_wrk_and_wrk2_and_others_print_microseconds():
    assert len({path.parent.parent.parent.parent.name for path in WITH_MICRO}) >= 6

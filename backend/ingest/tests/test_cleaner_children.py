"""The children that search files for secrets, as processes."""

import sys

import psutil
import pytest

from backend.ingest.cleaner import NICENESS, Cleaner

pytestmark = pytest.mark.processes


@pytest.mark.parametrize(("is_short", "more"), [(True, 0), (False, NICENESS)])
def test_what_may_take_minutes_goes_behind_requests(is_short, more):
    child = Cleaner(is_short=is_short)
    try:
        assert child.clean_json({"labels": {}}) == {"labels": {}}
        assert psutil.Process(child._child.child.pid).nice() == psutil.Process().nice() + more
    finally:
        child.close()


def test_no_child_starts_behind_requests():
    """On a busy machine a nice start took ten seconds, for an upload that takes a moment."""
    assert Cleaner()._child.command[0] == sys.executable

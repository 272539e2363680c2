"""The children that search files for secrets, as processes."""

import sys

import psutil
import pytest

from backend.untrusted.sandbox import sandbox
from backend.untrusted.secrets.cleaner import NICENESS, Cleaner
from backend.untrusted.secrets.cleaner_refusals import CleanerInterrupted
from backend.untrusted.secrets.rewriting import CannotClean, TooLargeToClean

pytestmark = pytest.mark.processes


@pytest.fixture
def child(settings, monkeypatch):
    settings.PARSE_CPU_S = 1
    # On a busy machine a second of CPU time may take many of the clock's.
    monkeypatch.setattr(sandbox, "GRACE_S", 60)
    child = Cleaner()
    child._child.command = [sys.executable, "-m", "backend.untrusted.tests.planted_cleaner"]
    yield child
    child.close()


@pytest.fixture
def ask(child, tmp_path):
    """Gives the child an order; where it dies, it leaves a line in the file."""

    def ask(order):
        return child.clean_json({"do": order, "path": str(tmp_path / "deaths")})

    return ask


@pytest.fixture
def count_deaths(tmp_path):
    return lambda: (tmp_path / "deaths").read_text().count("died")


@pytest.mark.parametrize(("is_short", "more"), [(True, 0), (False, NICENESS)])
def test_what_may_take_minutes_goes_behind_requests(is_short, more):
    child = Cleaner(is_short=is_short)
    try:
        assert child.clean_json({"labels": {}}) == {"labels": {}}
        assert psutil.Process(child._child.child.pid).nice() == min(
            19, psutil.Process().nice() + more
        )
    finally:
        child.close()


def test_no_child_starts_behind_requests():
    """On a busy machine a nice start took ten seconds, for an upload that takes a moment."""
    assert Cleaner()._child.command[0] == sys.executable


@pytest.mark.parametrize(
    ("order", "sentence"), [("ALLOCATE", "1,024 MiB of memory."), ("SPIN", "1 s of CPU time.")]
)
def test_a_file_beyond_a_limit_is_too_large(ask, order, sentence):
    with pytest.raises(TooLargeToClean) as refused:
        ask(order)
    assert str(refused.value) == f"The search for secrets in a file needed more than {sentence}"


def test_a_file_whose_child_crashes_once_is_searched_by_the_next(ask, count_deaths):
    assert ask("CRASH ONCE")["do"] == "CRASH ONCE"
    assert count_deaths() == 2


def test_the_third_crash_refuses_the_file_and_says_so(ask, count_deaths, caplog):
    with pytest.raises(CannotClean, match=r"crashed \(SIGSEGV\); .* happened 3 times") as refused:
        ask("CRASH")
    assert not isinstance(refused.value, TooLargeToClean)
    assert count_deaths() == 3
    assert [line.getMessage() for line in caplog.records] == ["cleaner_died"] * 3


def test_a_file_whose_child_is_killed_twice_is_searched_by_the_third(ask, count_deaths):
    assert ask("KILL TWICE")["do"] == "KILL TWICE"
    assert count_deaths() == 3


def test_the_third_kill_says_memory_what_was_used_and_the_limit(ask, count_deaths):
    words = r"when memory runs out; it had used .*\d MiB .* is 1,024 MiB\. This happened 3 times"
    with pytest.raises(TooLargeToClean, match=words):
        ask("KILL")
    assert count_deaths() == 3


def test_a_child_that_waits_for_a_processor_refuses_nothing_for_good(ask, child, monkeypatch):
    monkeypatch.setattr(sandbox, "GRACE_S", 0)
    child._child.patience = 0
    with pytest.raises(CleanerInterrupted, match="took too long on a busy machine"):
        ask("SPIN")


def test_a_fault_of_ours_is_logged_and_said(ask, caplog):
    with pytest.raises(CannotClean, match="has a fault") as refused:
        ask("FAULT")
    assert not isinstance(refused.value, TooLargeToClean)
    assert "in the log" in refused.value.hint
    (line,) = caplog.records
    assert line.getMessage() == "parser_fault"
    assert "KeyError: 'a fault'" in line.traceback

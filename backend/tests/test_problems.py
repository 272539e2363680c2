"""Every exception of the project has the base, and what a request can raise has an answer."""

import importlib
import pkgutil
import re

import pytest

import backend
from backend.broker import Guard
from backend.errors import Away, LoadsheetError, NotFound, Refused, TooMany
from backend.problems import ANSWERS, answer_to, seconds_to_wait
from backend.storage import StorageAway, StorageFull
from backend.untrusted.sandbox.fair_slots import Busy

NOT_IMPORTED = re.compile(r"\.(tests|testing|migrations|__main__|conftest|wsgi|celery|\w+_child)\b")


def own_exceptions():
    """The exception classes that modules of the project define, without those of tests."""
    names = [module.name for module in pkgutil.walk_packages(backend.__path__, "backend.")]
    for name in names:
        if NOT_IMPORTED.search(name):
            continue
        for value in vars(importlib.import_module(name)).values():
            is_own = isinstance(value, type) and value.__module__ == name
            if is_own and issubclass(value, Exception):
                yield value


def test_every_exception_has_the_base():
    exceptions = set(own_exceptions())
    assert len(exceptions) > 50
    assert {error for error in exceptions if not issubclass(error, LoadsheetError)} == set()


def test_what_is_refused_and_what_is_away_has_an_answer():
    for error in own_exceptions():
        bases = set(error.__mro__) - {Refused, Away}
        if issubclass(error, Refused | Away) and error not in (Refused, Away):
            assert bases & set(ANSWERS), error


@pytest.mark.parametrize("answer", ANSWERS.values())
def test_an_answer_is_an_error_with_sentences(answer):
    assert 400 <= answer.status < 600
    assert answer.hint == "" or answer.hint.endswith((".", "…"))


def test_a_class_is_answered_as_itself_before_its_family():
    assert answer_to(StorageFull("no space")).status == 507
    assert answer_to(StorageAway("gone")).status == 503
    assert answer_to(ZeroDivisionError()) is None


def test_messages_about_the_machine_are_for_the_log():
    assert answer_to(StorageAway("/srv/data is gone")).is_for_the_log
    assert not answer_to(Busy()).is_for_the_log
    assert not answer_to(NotFound("There is no run 1.")).is_for_the_log


def test_how_long_to_wait_is_of_the_error_or_of_its_class():
    too_many = TooMany("Slower.", wait_s=7)
    assert seconds_to_wait(too_many, answer_to(too_many)) == 7
    assert seconds_to_wait(Busy(), answer_to(Busy())) == 10


class TestGuard:
    def test_a_server_that_failed_is_left_alone(self):
        guard, asked = Guard("test", errors=OSError), []

        def command():
            asked.append(1)
            raise OSError

        assert guard.call(command, otherwise="none") == "none"
        assert guard.call(command, otherwise="none") == "none"
        assert len(asked) == 1
        guard.pause(0)
        guard.call(command, otherwise="none")
        assert len(asked) == 2

    def test_an_error_of_another_kind_is_no_outage(self):
        guard = Guard("test", errors=OSError)
        with pytest.raises(ZeroDivisionError):
            guard.call(lambda: 1 / 0, otherwise=None)
        assert not guard.is_paused

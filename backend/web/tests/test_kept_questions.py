"""How long the questions of a front page are kept."""

import pytest
from django.core.cache import caches

from backend.testing.uploads import make_tenant
from backend.web.home import kept_questions
from backend.web.home.kept_questions import questions_of

pytestmark = pytest.mark.django_db


class Clock:
    """Time that only the search for questions passes."""

    def __init__(self, monkeypatch, search_s):
        self.now, self.searches, self.search_s = 1000.0, 0, search_s
        monkeypatch.setattr(kept_questions.time, "time", lambda: self.now)
        monkeypatch.setattr(kept_questions.time, "thread_time", lambda: self.now)
        monkeypatch.setattr(kept_questions, "list_questions", self.search)

    def search(self, *_):
        self.searches += 1
        self.now += self.search_s
        return []


@pytest.fixture
def workspace():
    caches["process"].clear()
    return make_tenant("lab").workspace


def test_questions_stay_while_the_data_do(workspace, monkeypatch):
    clock = Clock(monkeypatch, search_s=2)
    questions_of(workspace)
    clock.now += 500
    questions_of(workspace)
    assert clock.searches == 1


@pytest.mark.parametrize(("after_s", "searches"), [(39, 1), (41, 2)])
def test_costly_questions_are_looked_for_less_often(workspace, monkeypatch, after_s, searches):
    clock = Clock(monkeypatch, search_s=2)
    questions_of(workspace)
    workspace.data_version += 1
    clock.now += after_s
    questions_of(workspace)
    assert clock.searches == searches


def test_what_was_deleted_is_gone_from_cheap_questions_at_once(workspace, monkeypatch):
    clock = Clock(monkeypatch, search_s=0.9)
    questions_of(workspace)
    workspace.data_version += 1
    questions_of(workspace)
    assert clock.searches == 2

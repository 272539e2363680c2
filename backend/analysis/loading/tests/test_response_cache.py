"""Answers that are kept: found again until what they show changes, and never another reader's."""

import pytest
from django.core.cache import caches
from redis.exceptions import ConnectionError as AwayError

from backend.analysis.loading import response_cache
from backend.analysis.query.compare_query import CompareQuery
from backend.broker import Guard, answers_client
from backend.testing.rows import CellSpec, make_run, make_workspace

pytestmark = pytest.mark.django_db

DAMAGES = {
    "nothing": lambda whole: b"",
    "other bytes": lambda whole: b"damaged",
    "a digit": lambda whole: b"5",
    "no end": lambda whole: whole[:-5],
    "one bit": lambda whole: whole.replace(b"times", b"timer"),
    # Its head says that it unpacks to 2**62 bytes.
    "another length": lambda whole: (
        whole[:4] + b"\xe4" + (1 << 62).to_bytes(8, "little") + whole[6:]
    ),
}


class Computed:
    """Counts how often an answer is computed."""

    def __init__(self):
        self.times = 0

    def __call__(self):
        self.times += 1
        return b'{"times":%d}' % self.times


@pytest.fixture
def lab():
    caches["answers"].clear()
    return make_workspace("lab")


def ask(computed, *workspaces, text="", kind="compare"):
    ids = [workspace.pk for workspace in workspaces]
    return response_cache.get_or_compute_json(
        kind, CompareQuery.parse(text), ids, computed, viewer="viewer"
    )


def test_the_same_question_is_computed_once(lab):
    computed = Computed()
    assert ask(computed, lab) == ask(computed, lab, text="metric=throughput") == b'{"times":1}'


@pytest.mark.parametrize(
    "other", [{"text": "metric=p99"}, {"kind": "facets"}], ids=["query", "kind"]
)
def test_another_question_has_another_answer(lab, other):
    computed = Computed()
    assert ask(computed, lab) != ask(computed, lab, **other)


@pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES)
def test_a_kept_answer_that_is_damaged_is_computed_anew(lab, damage):
    computed, client = Computed(), answers_client()
    ask(computed, lab)
    (key,) = client.keys(caches["answers"].make_key("*"))
    whole = client.get(key)
    client.set(key, damage(whole))
    assert ask(computed, lab) == b'{"times":2}'
    assert client.get(key) != damage(whole)


def test_a_new_run_makes_a_new_answer(lab):
    computed = Computed()
    ask(computed, lab)
    make_run(lab, CellSpec())
    ask(computed, lab)
    assert computed.times == 2


def test_a_reader_of_other_workspaces_gets_another_answer(lab):
    computed, more = Computed(), make_workspace("more")
    answered = {ask(computed, lab), ask(computed, more), ask(computed, lab, more), ask(computed)}
    assert len(answered) == 4


def test_without_the_broker_every_answer_is_computed(lab, monkeypatch):
    class Away:
        asked = 0

        def get(self, key):
            Away.asked += 1
            raise AwayError(key)

        set = get

    monkeypatch.setattr(response_cache, "caches", {"answers": Away()})
    monkeypatch.setattr(response_cache, "ANSWERS", Guard("answers"))
    computed = Computed()
    assert ask(computed, lab) == b'{"times":1}'
    assert ask(computed, lab) == b'{"times":2}'
    # After the first failure the broker is left alone for a while.
    assert Away.asked == 1


def test_a_large_answer_is_not_kept(lab, monkeypatch):
    monkeypatch.setattr(response_cache, "MAX_KEPT_BYTES", 1)
    computed = Computed()
    ask(computed, lab)
    ask(computed, lab)
    assert computed.times == 2

"""The OpenAPI document is built once, whoever asks."""

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from backend.api import docs


@pytest.fixture
def _not_built():
    docs._built.cache_clear()
    yield
    docs._built.cache_clear()


@pytest.mark.usefixtures("_not_built")
def test_two_that_ask_first_at_the_same_time_get_the_same_document(monkeypatch):
    both_asked, built = threading.Barrier(2), []

    def build(self, **_):
        built.append(threading.get_ident())
        # Else the other one comes when this is over.
        never.wait(0.2)
        return {"paths": {}}

    never = threading.Event()
    monkeypatch.setattr(docs.SchemaGenerator, "get_schema", build)

    def ask(_):
        both_asked.wait(60)
        return docs.openapi_document()

    with ThreadPoolExecutor(2) as pool:
        first, second = pool.map(ask, range(2))
    assert first is second
    assert len(built) == 1

"""What PostgreSQL refuses at COMMIT is answered as what it is, by every view that writes."""

from collections import defaultdict

import psycopg
import pytest
from django.db import IntegrityError, OperationalError
from django.test import Client
from django.urls import get_resolver

from backend.problems import CHANGED_MEANWHILE, DATABASE_AWAY, DATABASE_BUSY

FAULTS = {
    "23503": (IntegrityError, CHANGED_MEANWHILE),
    "23505": (IntegrityError, CHANGED_MEANWHILE),
    "40001": (OperationalError, DATABASE_BUSY),
    "40P01": (OperationalError, DATABASE_BUSY),
    "55P03": (OperationalError, DATABASE_BUSY),
    "57014": (OperationalError, DATABASE_BUSY),
    "57P01": (OperationalError, DATABASE_AWAY),
}


def fault_of(sqlstate):
    error = FAULTS[sqlstate][0]("words of the database")
    error.__cause__ = psycopg.errors.lookup(sqlstate)("words")
    return error


def written_paths():
    """A path of every address that takes what changes something, with the first argument of each
    kind."""
    values = {"uuid": "0" * 8 + "-0000-4000-8000-" + "0" * 12, "slug": "lab", "int": "1"}
    paths = set()
    for path, converters in _patterns(get_resolver()):
        # Named groups of an expression have no converter.
        arguments = defaultdict(lambda: "a")
        arguments |= {name: values.get(kind, "a") for name, kind in converters.items()}
        paths.add("/" + path % arguments)
    return sorted(paths)


def _patterns(resolver):
    for name in resolver.reverse_dict:
        for possibilities, _, _, converters in resolver.reverse_dict.getlist(name):
            for path, _ in possibilities:
                yield path, {each: _kind(kind) for each, kind in converters.items()}
    for _, (prefix, inner) in resolver.namespace_dict.items():
        for path, converters in _patterns(inner):
            yield prefix + path, converters


def _kind(converter):
    return type(converter).__name__.removesuffix("Converter").lower()


@pytest.mark.django_db
@pytest.mark.parametrize("sqlstate", FAULTS)
def test_every_view_that_writes_answers_a_refused_commit(sqlstate, monkeypatch):
    """Whatever the view does, the database refuses it at the end."""

    def refuse(self, request, *_, **__):
        raise fault_of(sqlstate)

    monkeypatch.setattr("django.core.handlers.base.BaseHandler.make_view_atomic", _refusing(refuse))
    client, answer = Client(raise_request_exception=False), FAULTS[sqlstate][1]
    paths = written_paths()
    assert len(paths) > 150
    for path in paths:
        for method in ("post", "delete", "patch", "put"):
            response = getattr(client, method)(path)
            if response.status_code in (404, 405):
                # No view, or none for this method, was reached.
                continue
            assert response.status_code == answer.status, (method, path, response.content[:200])
            wait = None if answer.retry_after_s is None else str(answer.retry_after_s)
            assert response.get("Retry-After") == wait, path
            if path.startswith("/api/"):
                assert response.json()["title"] == answer.title, path
            else:
                assert answer.sentence in response.content.decode(), path


def _refusing(refuse):
    def make_view_atomic(self, view):
        return lambda request, *arguments, **named: refuse(view, request)

    return make_view_atomic

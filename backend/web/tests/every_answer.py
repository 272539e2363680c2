"""Asks every route by every method, and records which tables each answer reads and writes."""

import re
import uuid
from collections import defaultdict
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from typing import NamedTuple

from django.contrib.auth.models import AnonymousUser
from django.db import connection
from django.test import RequestFactory
from django.urls import resolve
from rest_framework.test import force_authenticate

from backend.accounts.models import User
from backend.testing.transactions import taken_back
from backend.web.tests.access_rows import ROWS
from backend.web.tests.test_access import ask, body_of

METHODS = ("get", "head", "post", "put", "patch", "delete", "options")
SAFE = ("get", "head", "options")
# Documents with recorded examples, in which the same markers stand.
SAME_FOR_ALL = {"openapi", "api-docs"}
# What everybody may send, whoever they are: it is about nothing of anybody else.
OPEN_WRITES = {"livez", "readyz", "try", "new-workspace", "leaked-token-list", "account-export"}
# The table of a statement that changes rows; a lock ends in FOR UPDATE, an upsert in DO UPDATE.
WRITE = re.compile(
    r"(?<!FOR )(?<!KEY )(?<!DO )\b(?:INSERT INTO|UPDATE|DELETE FROM|COPY|TRUNCATE)\s+\"?(\w+)"
)
READ = re.compile(r"\b(?:FROM|JOIN)\s+(?!LATERAL\b)\"?(\w+)")
# Written for whoever asks: the session, and when a token was used last.
OF_THE_SENDER = {"django_session", "usersessions_usersession", "accounts_token"}


def every_request():
    """Each route with each method; the data of its row go with the method of its row."""
    for name, row in ROWS.items():
        for method in METHODS:
            data = row.data if method == row.method else {}
            yield name, replace(row, method=method, data=data)


def answer(client, row, ids):
    with nullcontext() if row.method in SAFE else taken_back():
        response = ask(client, row, ids)
        body = body_of(response)
    headers = {**response.headers, "Server-Timing": "", "X-Request-Id": "", "RateLimit": ""}
    return response.status_code, body + str(headers).encode()


@contextmanager
def recorded_tables():
    """The tables whose rows change inside, but those of the sender, and those that are read.

    The status does not tell a change: a form is answered 302, as are those who are not signed in.
    """
    written, read = set(), set()

    def record(execute, sql, params, many, context):
        written.update(set(WRITE.findall(sql)) - OF_THE_SENDER)
        read.update(READ.findall(sql))
        return execute(sql, params, many, context)

    with connection.execute_wrapper(record):
        yield written, read


class Answer(NamedTuple):
    """What a visitor got from a route with a method, and what was written and read for it."""

    name: str
    method: str
    visitor: str
    status: int
    text: bytes
    written: set
    read: set

    @property
    def is_of_page(self):
        return not is_of_api(ROWS[self.name])


def is_of_api(row):
    return row.path.startswith("/api/")


def is_token(client):
    return "HTTP_AUTHORIZATION" in client.defaults


def answers(clients, ids, refused=None):
    """The answer to each visitor from each route with each method that it may answer.

    `refused`: what the fixture of this name found; then it is left out, and so are tokens on pages.
    """
    for name, row in every_request():
        if name in SAME_FOR_ALL or (name, row.method) in (refused or ()):
            continue
        # Other methods are refused whoever asks: a person and a token are enough.
        is_answered = row.method in ("get", ROWS[name].method)
        for visitor, client in clients.items():
            if not (is_answered or visitor in ("other tenant", "token of another tenant")):
                continue
            if refused is not None and is_token(client) and not is_of_api(row):
                continue
            with recorded_tables() as (written, read):
                status, text = answer(client, row, ids)
            yield Answer(name, row.method, visitor, status, text, written, read)


def leaks(given, markers):
    """(route, method, visitor, status, tables written) of each answer that holds a marker, fails
    or changes.
    """
    wrong, asked = [], 0
    for name, method, visitor, status, text, written, _ in given:
        asked += 1
        is_taken = status < 300 or bool(written)
        is_change = method not in SAFE and is_taken and name not in OPEN_WRITES
        if status >= 500 or is_change or any(marker in text for marker in markers):
            wrong.append((name, method, visitor, status, *sorted(written)))
    assert asked >= len(ROWS) - len(SAME_FOR_ALL)
    return wrong


def status_without_rows(row, token):
    path = row.path.format_map(defaultdict(uuid.uuid4))
    request = getattr(RequestFactory(), row.method)(path)
    request.user, request.session = AnonymousUser(), {}
    force_authenticate(request, User(), token)
    view, arguments, named = resolve(request.path)
    try:
        return view(request, *arguments, **named).status_code
    except Exception:
        # It asked for a row, or for what middleware brings.
        return None

"""Headers of every route of the URL configuration: framing, policies, and forged addresses."""

import re

import pytest
from django.conf import settings as configured
from django.test import Client
from django.urls import URLResolver, get_resolver

from backend.accounts.models import AuditEvent
from backend.sharing.models import Visibility
from backend.testing.scenes import make_result_set
from backend.testing.transactions import taken_back
from backend.web.tests.access_rows import ROWS
from backend.web.tests.access_statuses import Row
from backend.web.tests.shared_rows import SHARED
from backend.web.tests.test_access import FOREIGN_ROUTES, ask, body_of, ids_of

# What stands in the addresses of allauth and of Django's pages for the staff.
ARGUMENT = re.compile(r"<(?:\w+:)?\w+>|\(\?P<\w+>(?:\[[^\]]*\]|[^)])*\)|\(\?:.*?\)")
FORGED = "203.0.113.77"
FORGED_HEADERS = {
    "x-forwarded-for": FORGED,
    "x-forwarded-host": "evil.example",
    "x-forwarded-proto": "https",
    "x-real-ip": FORGED,
    "forwarded": f"for={FORGED};host=evil.example;proto=https",
}
MADE_ANEW = re.compile(
    r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|ls_\w+|[0-9]{4}-[0-9]{2}-[0-9]{2}[T ][0-9:.]+"
    r'|csrfmiddlewaretoken" value="[^"]*"|[\w+/=-]{30,}|data:image/svg[^"]*'
)
# Differ from answer to answer.
OWN_OF_AN_ANSWER = {
    *("Server-Timing", "X-Request-Id", "RateLimit", "RateLimit-Policy", "ETag", "Content-Length"),
    # The time of day, to the second.
    "Expires",
}
STRICT = {
    "X-Content-Type-Options": "nosniff",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Referrer-Policy": "same-origin",
}
# Made for other sites, as their rows in test_shown_elsewhere.py show.
EMBEDDED = ("embed", "oembed", "result-set-png", "result-set-svg")


def addresses_of_others(patterns, prefix=""):
    """An address for each route of allauth and of the pages for the staff."""
    for pattern in patterns:
        path = prefix + str(pattern.pattern)
        if isinstance(pattern, URLResolver):
            yield from addresses_of_others(pattern.url_patterns, path)
        elif path.startswith(FOREIGN_ROUTES):
            yield path, Row("/" + ARGUMENT.sub("1", path).replace("^", "").strip("$"), {})


ROUTES = {**ROWS, **dict(addresses_of_others(get_resolver().url_patterns))}


@pytest.fixture
def asked(scene, settings, tmp_path):
    """Asks for a route as the owner or nobody, and takes back what that changed."""
    settings.AGENT_FILES = tmp_path
    ids = ids_of(scene)
    ids["shared"] = make_result_set(scene.own.workspace, Visibility.PUBLIC).pk

    signed_in = Client()
    signed_in.force_login(scene.own.user)
    sessions = {"owner": signed_in.cookies.output(header="").strip(), "nobody": ""}

    def ask_as(person, row, headers=None):
        client = Client(headers=headers)
        client.cookies.load(sessions[person])
        with taken_back():
            answer = ask(client, row, ids)
            answer.text_of_body = body_of(answer).decode(errors="replace")
            answer.addresses = set(AuditEvent.objects.values_list("address", flat=True))
        return answer

    return ask_as


def test_this_is_every_route():
    assert len(ROUTES) > 250
    assert sum(row.path.startswith(("/accounts/", "/staff/")) for row in ROUTES.values()) > 50


def assert_strict(name, answer):
    policy = answer["Content-Security-Policy"]
    assert "unsafe-" not in policy, name
    # Raw output is a download in a sandbox.
    assert "frame-ancestors 'none'" in policy or policy.startswith("sandbox"), name
    assert answer["X-Frame-Options"] == "DENY", name
    assert {key: answer[key] for key in STRICT} == STRICT, name
    assert "camera=()" in answer["Permissions-Policy"], name
    elsewhere = "cross-origin" if name in EMBEDDED else "same-origin"
    assert answer["Cross-Origin-Resource-Policy"] == elsewhere, name
    assert "no-store" in answer["Cache-Control"] or name in ("openapi", "run-progress"), name


def plain(answer):
    """The answer without what is made again for each: identifiers, tokens and times."""
    kept = {key: value for key, value in answer.items() if key not in OWN_OF_AN_ANSWER}
    return answer.status_code, MADE_ANEW.sub("", str(kept)), MADE_ANEW.sub("", answer.text_of_body)


def test_answers_to_a_stranger_are_strict_and_the_same_for_a_forged_sender(asked):
    assert not configured.TRUST_PROXY
    for name, row in ROUTES.items():
        honest, forged = asked("nobody", row), asked("nobody", row, FORGED_HEADERS)
        assert honest.status_code < 500, name
        assert_strict(name, honest)
        assert plain(forged) == plain(honest), name


def test_answers_to_an_owner_are_strict_and_the_audit_log_has_no_forged_sender(asked):
    seen = set()
    for name, row in ROUTES.items():
        answer = asked("owner", row, FORGED_HEADERS)
        assert answer.status_code < 500, name
        assert_strict(name, answer)
        seen |= answer.addresses
    assert seen == {"127.0.0.1", None}


def test_of_what_is_shared_only_the_frame_can_be_framed(asked):
    open_routes = []
    for name, row in SHARED.items():
        answer = asked("nobody", row)
        is_closed = "frame-ancestors 'none'" in answer["Content-Security-Policy"]
        assert is_closed is (answer.get("X-Frame-Options") == "DENY"), name
        if not is_closed:
            open_routes.append(name)
    assert open_routes == ["embed"]

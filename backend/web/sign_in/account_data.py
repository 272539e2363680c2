"""A person's own data: downloading all of it, and erasing the account."""

from collections.abc import Iterator
from typing import Any

import orjson
from django.contrib.auth.decorators import login_required
from django.contrib.auth.models import AnonymousUser
from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from backend.accounts.audit import record
from backend.accounts.limits import throttle
from backend.accounts.limits.limiters import OWN_DATA
from backend.accounts.models import Act, User
from backend.accounts.own_data.erasure import OnlyOwner, erase_account, workspaces_owned_alone
from backend.accounts.own_data.personal_data import RELATIONS, OnErasure, export_of, plain
from backend.accounts.sign_in import recent_sign_in
from backend.web.base import visible
from backend.web.base.errors import message

FILE_NAME = "loadsheet-account.json"


@require_safe
@login_required
def your_data(request: HttpRequest) -> HttpResponse:
    """What the service keeps of the viewer, with the buttons that export and erase it."""
    return render(request, "account_data.html", _kept(visible.viewer_or_404(request)))


def _kept(user: User) -> dict[str, Any]:
    """How many rows refer to the person, by what erasing the account does with them."""
    counts = [
        (relation.erasure, relation.label, rows)
        for relation in RELATIONS
        if relation.key and (rows := relation.rows_of(user).count())
    ]
    return {
        "going": [(label, rows) for erasure, label, rows in counts if erasure == OnErasure.GOES],
        "staying": [
            (label, rows) for erasure, label, rows in counts if erasure == OnErasure.FORGETS
        ],
    }


@require_POST
@login_required
def export(request: HttpRequest) -> HttpResponseBase:
    """The export as a file of JSON.

    Raises TooOften, and what leads to the form for the password.
    """
    user = visible.viewer_or_404(request)
    recent_sign_in.require(request)
    throttle.require(OWN_DATA, throttle.payer_of(user.pk))
    record(Act.ACCOUNT_EXPORTED, None, subject_id=user.pk)
    answer = StreamingHttpResponse(_as_json(user), content_type="application/json")
    answer["Content-Disposition"] = f'attachment; filename="{FILE_NAME}"'
    return answer


def _as_json(user: User) -> Iterator[bytes]:
    """One object; a list is written as its rows are read."""
    mark = b"{"
    for key, value in export_of(user):
        yield mark + orjson.dumps(key) + b":"
        mark = b",\n"
        if isinstance(value, Iterator):
            yield from _list_as_json(value)
        else:
            yield orjson.dumps(value, default=plain)
    yield b"}\n"


def _list_as_json(rows: Iterator[dict[str, Any]]) -> Iterator[bytes]:
    mark = b"["
    for row in rows:
        yield mark + orjson.dumps(row, default=plain)
        mark = b",\n"
    yield b"]" if mark == b",\n" else b"[]"


@require_http_methods(["GET", "HEAD", "POST"])
@login_required
def erase(request: HttpRequest) -> HttpResponse:
    """What goes and what stays, and the form that erases the account. Field: confirm."""
    user = visible.viewer_or_404(request)
    if request.method != "POST":
        return _erase_form(request, user)
    if request.POST.get("confirm", "") != user.get_username():
        return _erase_form(request, user, "The user name that you typed is not yours.", status=400)
    recent_sign_in.require(request)
    try:
        erase_account(user)
    except OnlyOwner:
        return _erase_form(request, user, status=409)
    request.session.flush()
    request.user = AnonymousUser()
    return message(
        request,
        200,
        title="Your account was erased",
        sentence="You are signed out everywhere, and your tokens no longer work.",
        hint="Backups hold your data until they are replaced. When a backup is restored, your "
        "account is erased again.",
    )


def _erase_form(
    request: HttpRequest, user: User, refused: str = "", *, status: int = 200
) -> HttpResponse:
    context = {
        **_kept(user),
        "owned_alone": workspaces_owned_alone(user),
        "refused": refused,
        "username": user.get_username(),
    }
    return render(request, "erase_account.html", context, status=status)

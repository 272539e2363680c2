"""The error pages. A page that does not exist and a page that is not shared look the same."""

import logging

from django.http import HttpRequest, HttpResponse, HttpResponseNotAllowed
from django.shortcuts import render
from django.template.loader import render_to_string

from backend.errors import Away, LoadsheetError, NotFound, TooMany
from backend.links import absolute, own_path
from backend.problems import (
    answer_to,
    headers_of,
    hint_for_people,
    problem_response,
    set_headers,
)

log = logging.getLogger(__name__)
# Addresses that programs ask for: of images, feeds and data.
DATA_ENDINGS = (".json", ".csv", ".parquet", ".png", ".svg", ".atom", ".toml", ".zip")
DATA_ROUTES = ("oembed", "mfa_login_webauthn")


def message(
    request: HttpRequest, status: int, *, title: str, sentence: str, hint: str = "", start: str = ""
) -> HttpResponse:
    """A page with one sentence and what to do. `start`: a page to start again from."""
    context = {"title": title, "sentence": sentence, "hint": hint, "start": start}
    context["form_page"] = _form_page(request)
    return render(request, "message.html", context, status=status)


def _form_page(request: HttpRequest) -> str:
    """The path of the page whose form was refused; empty where the browser does not name it.

    The host of the request itself may be what was refused, so it is not asked.
    """
    site = absolute("")
    sender = request.headers.get("Referer", "")
    if request.method != "POST" or not sender.startswith(f"{site}/"):
        return ""
    path = sender.removeprefix(site)
    return "" if path == request.path else own_path(path, "")


def error_page(
    request: HttpRequest, error: LoadsheetError, *, start: str = ""
) -> HttpResponse | None:
    """The page that says what happened and what to do; None for an error that must be logged."""
    answer = answer_to(error)
    if answer is None or answer.is_for_the_log:
        return None
    if isinstance(error, NotFound):
        return not_found(request)
    title, hint = answer.page_title, hint_for_people(error, answer)
    response = (
        problem_response(answer.status, answer.title, str(error), hint=hint, **error.members)
        if is_for_programs(request)
        else message(
            request, answer.status, title=title, sentence=str(error), hint=hint, start=start
        )
    )
    set_headers(response, headers_of(error, answer))
    return response


def is_for_programs(request: HttpRequest) -> bool:
    """Whether the address is of an image, a feed, a file or data, and of no page."""
    match = request.resolver_match
    is_data = match is not None and match.url_name in DATA_ROUTES
    return is_data or request.path.endswith(DATA_ENDINGS)


def frame_page(error: TooMany | Away) -> HttpResponse:
    """As error_page, for a frame on another page: it knows no session, and can be framed."""
    answer = answer_to(error)
    if answer is None or answer.is_for_the_log:
        raise error
    title, hint = answer.page_title, hint_for_people(error, answer)
    response = framed_message(answer.status, title, str(error), hint)
    set_headers(response, headers_of(error, answer))
    return response


def framed_message(status: int, title: str, sentence: str, hint: str) -> HttpResponse:
    """A message in a frame on another page: without the viewer's name and without links, because
    the pages of the service refuse frames."""
    context = {"title": title, "sentence": sentence, "hint": hint}
    return HttpResponse(render_to_string("embed_message.html", context), status=status)


def answer_error(request: HttpRequest, error: LoadsheetError) -> HttpResponse:
    """As error_page, for an error that `backend.problems` answers."""
    page = error_page(request, error)
    if page is None:
        raise error
    return page


def bad_request(request: HttpRequest, exception: Exception | None = None) -> HttpResponse:
    return message(
        request,
        400,
        title="We don't understand this request",
        sentence="The address or the form contains something that this page does not accept.",
        hint="Go back, reload the page and try again.",
    )


def permission_denied(request: HttpRequest, exception: Exception | None = None) -> HttpResponse:
    return message(
        request,
        403,
        title="Not allowed",
        sentence="Your role does not allow this.",
        hint="Ask an owner of the workspace for another role.",
    )


def csrf_failure(request: HttpRequest, reason: str = "") -> HttpResponse:
    return message(
        request,
        403,
        title="This form is out of date",
        sentence="The page with this form was opened in another session.",
        hint="Allow cookies, go back, reload the page and send the form again.",
    )


def not_found(request: HttpRequest, exception: Exception | None = None) -> HttpResponse:
    viewer = getattr(request, "user", None)
    sign_in = "" if viewer is not None and viewer.is_authenticated else "sign in, "
    return message(
        request,
        404,
        title="Page not found, or not shared with you",
        sentence="This address has no page that you may see.",
        hint=f"Check the address, {sign_in}or ask the person who sent you the link to share it.",
    )


def form_only(refused: HttpResponseNotAllowed) -> HttpResponse:
    """Rendered without the request, because a refused method reads no row of the database."""
    page = plain_message(
        405,
        "This address has no page",
        "This address only takes what a form sends.",
        "Go back to the page with the form, and press its button again.",
    )
    page["Allow"] = refused["Allow"]
    return page


def server_error(request: HttpRequest) -> HttpResponse:
    """Rendered without the request: its session or user may be the cause of the failure."""
    return plain_message(
        500,
        "Something went wrong on our side",
        "The error was logged. Nothing was saved in part.",
        "Try again. If it happens again, report the time and the address of this page.",
    )


def plain_message(status: int, title: str, sentence: str, hint: str) -> HttpResponse:
    """A message rendered without the request, so without the viewer's name: reading the session
    needs the database, which may be away."""
    context = {"title": title, "sentence": sentence, "hint": hint}
    try:
        page: str = render_to_string("message.html", context)
    except Exception:
        log.exception("error_page_failed")
        page = "<!doctype html><title>Loadsheet</title><p>{title}. {sentence} {hint}</p>".format(
            **context
        )
    return HttpResponse(page, status=status)

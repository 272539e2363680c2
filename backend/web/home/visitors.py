"""The pages for people without an account: the front page, and reading an output to try it.

While the demo of scripts/start is measured, the front page shows it.
"""

import math
from typing import Any

from allauth.account.adapter import get_adapter
from csp.constants import SELF
from csp.decorators import csp_update
from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_http_methods

from backend.accounts.limits import throttle
from backend.accounts.limits.limiters import TRIES
from backend.accounts.workspace import access
from backend.errors import Away, LoadsheetError, Refused
from backend.fleet.models import Progress
from backend.fleet.progress import RunProgress, run_progress
from backend.ingest.envelope.envelope import Envelope
from backend.ingest.preview.dry_records import DryFile
from backend.ingest.preview.dry_run import OF_STRANGERS, dry_run
from backend.library.loading import SHOWCASE, result_set_id
from backend.links import link_to
from backend.problems import headers_of, set_headers
from backend.sharing.gallery import find_showcase, list_exhibits
from backend.sharing.models import ResultSet
from backend.stats.thresholds import LEAST_TRIALS
from backend.untrusted.sandbox.parser_failures import ParserFailed
from backend.untrusted.sandbox.slots import STRANGERS
from backend.web.management.commands.make_demo import NAME as DEMO
from backend.web.uploads.previews import explain_refusal, preview_context, sent_files

EXHIBITS = 6
# What a visitor may look at in the embedded comparison: a name, and the fields of its link.
LOOKS: tuple[tuple[str, dict[str, str]], ...] = (
    ("Throughput", {}),
    ("Latency p50", {"metric": "p50"}),
    ("Latency p99", {"metric": "p99"}),
    ("All percentiles", {"view": "nines"}),
    ("Latency and throughput", {"view": "tradeoff"}),
)


@csp_update({"frame-src": [SELF]})
def introduction(request: HttpRequest) -> HttpResponse:
    """What Loadsheet answers, with a comparison to play with and a form to try it."""
    of_library = result_set_id(SHOWCASE)
    showcase = find_showcase(preferred=of_library)
    demo = find_demo_in_progress()
    context = {
        "demo": demo,
        "minutes_left": None if demo is None else _minutes(demo.seconds_left),
        "showcase": showcase,
        "is_of_library": showcase is not None and showcase.result_set.link == of_library,
        "looks": [] if showcase is None else _looks(showcase.result_set),
        "gallery": list_exhibits(EXHIBITS, without=showcase),
        **_form_context(request),
    }
    return render(request, "introduction.html", context)


def _minutes(seconds: float | None) -> int | None:
    """In whole minutes, one at least."""
    return None if seconds is None else max(1, math.ceil(seconds / 60))


def _looks(result_set: ResultSet) -> list[tuple[str, str]]:
    return [(name, link_to("embed", result_set.link, query=query)) for name, query in LOOKS]


@require_http_methods(["GET", "HEAD", "POST"])
def try_it(request: HttpRequest) -> HttpResponse:
    """Read and check an output without an account. Nothing is stored."""
    if request.method != "POST":
        return render(request, "try.html", _form_context(request))
    try:
        files = _read(request)
    except (Refused, ParserFailed, Away) as error:
        return _refused(request, error)
    return render(request, "try.html", _form_context(request, files=files))


def _read(request: HttpRequest) -> list[DryFile]:
    files = sent_files(request)
    throttle.require(TRIES, throttle.network_of(request.META), hint="Or sign in.")
    viewer = access.name_of_viewer(None, request.META)
    with STRANGERS.take(viewer):
        return dry_run(files, Envelope(), limits=OF_STRANGERS, owner=viewer)


def _refused(request: HttpRequest, error: LoadsheetError) -> HttpResponse:
    sentence, answer = explain_refusal(error)
    context = _form_context(request, refused=sentence)
    response = render(request, "try.html", context, status=answer.status)
    set_headers(response, headers_of(error, answer))
    return response


def _form_context(request: HttpRequest, **preview: Any) -> dict[str, Any]:
    return {
        **preview_context(request, **preview),
        "kept": "nothing was stored",
        "is_visitor": True,
        "is_sign_up_open": get_adapter(request).is_open_for_signup(request),
        "least_trials": LEAST_TRIALS,
        "most_kib": OF_STRANGERS.total_bytes >> 10,
    }


def find_demo_in_progress() -> RunProgress | None:
    """The run that the demo measures now; None if none is measured, or is no longer heard of.

    On other services a workspace of that name is anybody's.
    """
    if not settings.LOCAL_SITE:
        return None
    of_demo = Progress.objects.filter(workspace__slug=DEMO, agent__token__name=DEMO)
    newest = of_demo.order_by("-heard_at").first()
    if newest is None:
        return None
    progress = run_progress(newest.run, workspace_ids=[newest.workspace_id])
    is_running = progress is not None and progress.state == Progress.State.RUNNING
    return progress if is_running else None

"""The page of the operator: what runs, what waits, what is full, and whether all is accounted for.

It shows no content of any workspace: counts and ids only.
"""

import platform
from typing import Any

import django
from django.conf import settings
from django.contrib import messages
from django.db import connection
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.utils import timezone
from django.views.decorators.http import require_POST, require_safe

from backend import __version__
from backend.broker import BROKER, broker_client
from backend.config.health.verification_task import request_check
from backend.config.models import newest_reports
from backend.config.processes import heartbeat
from backend.deliveries.models import Delivery, DeliveryState
from backend.disks import rooms
from backend.formats import PARSER_VERSION
from backend.ingest.models import State, Upload
from backend.ingest.quota.usage import near_limits
from backend.links import link_to
from backend.web.base import visible

MOST_LISTED = 20
PART_NAMES = {
    heartbeat.WORKER: "Worker",
    heartbeat.BEAT: "Beat",
    heartbeat.CANARY: "Canary through the broker",
}


@require_safe
def operator(request: HttpRequest) -> HttpResponse:
    """The page, for staff; 404 for everyone else."""
    visible.or_404(visible.is_operator(request))
    context = {
        "parts": _parts(),
        "disks": rooms(),
        "waiting": _waiting(),
        "near_limits": near_limits()[:MOST_LISTED],
        "quarantined": _quarantined(),
        "failed_deliveries": _failed_deliveries(),
        "reports": newest_reports(),
        "versions": _versions(),
        "sends_mail": settings.SENDS_MAIL,
    }
    return render(request, "operator.html", context)


@require_POST
def check_now(request: HttpRequest) -> HttpResponse:
    """Ask a worker for the integrity checks."""
    visible.or_404(visible.is_operator(request))
    if request_check():
        messages.info(request, "The checks are running. Reload this page in a while.")
    else:
        messages.error(
            request, "The broker does not answer. Run manage.py verify on the server instead."
        )
    return HttpResponseRedirect(link_to("operator"))


def _parts() -> list[dict[str, Any]]:
    return [
        {
            "name": PART_NAMES[part],
            "age": "never" if age_s is None else f"{age_s:.0f} s ago",
            "warning": heartbeat.warning(part, age_s),
        }
        for part, age_s in heartbeat.ages().items()
    ]


def _waiting() -> list[dict[str, Any]]:
    """What waits to be done, with the time that the oldest of it came."""
    uploads = Upload.objects.filter(state=State.RECEIVED).order_by("received_at")
    deliveries = Delivery.objects.filter(state=DeliveryState.WAITING).order_by("created_at")
    oldest_message = deliveries.values_list("created_at").first()
    return [
        _queue("Uploads to read", uploads.count(), uploads.values_list("received_at").first()),
        _queue("Uploads being read", Upload.objects.filter(state=State.PARSING).count(), None),
        _queue("Messages to send", deliveries.count(), oldest_message),
    ]


def _queue(name: str, count: int, oldest: tuple[Any, ...] | None) -> dict[str, Any]:
    since = None if oldest is None else oldest[0]
    age_s = None if since is None else (timezone.now() - since).total_seconds()
    return {"name": name, "count": count, "oldest": since, "age_s": age_s}


def _quarantined() -> list[Any]:
    """Ids and reasons only: names of files may be secret."""
    rows = Upload.objects.filter(state=State.QUARANTINED).order_by("-received_at")
    return list(rows.values("pk", "received_at", "reason")[:MOST_LISTED])


def _failed_deliveries() -> list[Delivery]:
    rows = Delivery.objects.filter(state=DeliveryState.FAILED).select_related("channel")
    return list(rows.order_by("-ended_at")[:MOST_LISTED])


def _versions() -> list[tuple[str, str]]:
    with connection.cursor() as cursor:
        cursor.execute("SHOW server_version")
        (postgres,) = cursor.fetchone()
    return [
        ("Loadsheet", __version__),
        ("Parsers", PARSER_VERSION),
        ("Python", platform.python_version()),
        ("Django", django.get_version()),
        ("PostgreSQL", str(postgres)),
        ("Broker", BROKER.call(_broker_version, otherwise="does not answer")),
    ]


def _broker_version() -> str:
    info: Any = broker_client().info("server")
    name = info.get("server_name", "redis")
    return f"{name} {info.get('valkey_version') or info.get('redis_version', 'unknown')}"

"""Is the process alive; is the service ready, and what is missing."""

from django.conf import settings
from django.db import Error, connection
from django.http import HttpRequest, HttpResponse

from backend.config.health.storage_probe import Finding, probe_storage
from backend.config.models import newest_reports
from backend.config.processes import heartbeat
from backend.config.recovery import backup_reports
from backend.disks import rooms


def livez(_: HttpRequest) -> HttpResponse:
    """The process answers."""
    return HttpResponse("alive\n", content_type="text/plain")


def readyz(_: HttpRequest) -> HttpResponse:
    """200 while pages can be read and uploads can be answered, with a warning for each lack.

    Whether uploads can be kept is tried by writing. A full disk and a missing worker are warnings:
    a balancer that took this process out would take the pages away as well.
    """
    try:
        ages = heartbeat.ages()
    except Error:
        return _not_ready("the database does not answer")
    place = "the bucket" if settings.S3_BUCKET else "DATA_DIR"
    storage = probe_storage()
    if storage is Finding.AWAY:
        return _not_ready(f"{place} cannot be written: the log says why")
    warnings = [room.sentence for room in rooms() if room.is_short]
    if storage is Finding.FULL:
        warnings.append(f"{place} is full: uploads are refused")
    warnings += [*_pooler_warnings(), *_integrity_warnings(), *backup_reports.warnings()]
    lines = [f"{part}: {_ago(age_s)}" for part, age_s in ages.items()]
    warnings += filter(None, (heartbeat.warning(part, age_s) for part, age_s in ages.items()))
    lines += [f"warning: {sentence}" for sentence in warnings]
    return HttpResponse("\n".join(["ready", *lines]) + "\n", content_type="text/plain")


def _ago(age_s: float | None) -> str:
    return "never" if age_s is None else f"{age_s:.0f} s ago"


def _pooler_warnings() -> list[str]:
    """A pooler refuses the timeouts that a connection asks for, so it must set them itself."""
    if not connection.settings_dict["DISABLE_SERVER_SIDE_CURSORS"]:
        return []
    with connection.cursor() as cursor:
        cursor.execute("SHOW statement_timeout")
        (timeout,) = cursor.fetchone()
    missing = "statements have no time limit: set connect_query of the pooler (docs/operations.md)"
    return [missing] if timeout == "0" else []


def _integrity_warnings() -> list[str]:
    """Of the last checks, that something is missing or that they could not end."""
    sentences = [report.sentence for report in newest_reports() if report.sentence]
    return [f"{sentence}: see /operator" for sentence in sentences]


def _not_ready(reason: str) -> HttpResponse:
    return HttpResponse(f"not ready: {reason}\n", status=503, content_type="text/plain")

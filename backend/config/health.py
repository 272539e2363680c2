"""Is the process alive; is the service ready, and what is missing."""

from django.conf import settings
from django.db import Error, connection
from django.http import HttpRequest, HttpResponse

from backend.config import backup_reports, heartbeat
from backend.config.models import newest_reports
from backend.disks import rooms


def livez(_: HttpRequest) -> HttpResponse:
    """The process answers."""
    return HttpResponse("alive\n", content_type="text/plain")


def readyz(_: HttpRequest) -> HttpResponse:
    """200 while pages can be read and uploads can be answered, with a warning for each lack.

    A full disk and a missing worker are warnings: a balancer that took this process out would take
    the pages away as well.
    """
    try:
        ages = heartbeat.ages()
    except Error:
        return _not_ready("the database does not answer")
    try:
        warnings = _disk_warnings()
    except OSError as error:
        return _not_ready(f"DATA_DIR cannot be used: {error.strerror}")
    warnings += [*_pooler_warnings(), *_integrity_warnings(), *backup_reports.warnings()]
    lines = ["ready"]
    for part, age_s in ages.items():
        lines.append(f"{part}: {'never' if age_s is None else f'{age_s:.0f} s ago'}")
        if sentence := heartbeat.warning(part, age_s):
            warnings.append(sentence)
    lines += [f"warning: {sentence}" for sentence in warnings]
    return HttpResponse("\n".join(lines) + "\n", content_type="text/plain")


def _disk_warnings() -> list[str]:
    """Raises OSError where DATA_DIR cannot be used."""
    if not settings.S3_BUCKET:
        settings.DATA_DIR.mkdir(parents=True, exist_ok=True)
    return [room.sentence for room in rooms() if room.is_short]


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

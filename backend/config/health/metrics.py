"""/metrics: the state of the service for Prometheus.

Counters are the sums of all processes (`backend.counters`), gauges are read from the database at
each scrape, so one scrape of any web process tells all.
"""

import hmac
import ipaddress
import shutil
from collections.abc import Iterator, Mapping, Sequence
from urllib.parse import urlsplit

from django.conf import settings
from django.db import connection
from django.http import Http404, HttpRequest, HttpResponse
from django.utils import timezone
from django.views.decorators.http import require_safe
from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import (
    CounterMetricFamily,
    GaugeMetricFamily,
    HistogramMetricFamily,
    Metric,
)
from prometheus_client.registry import Collector

from backend import __version__, counters
from backend.config.models import newest_reports
from backend.config.processes import heartbeat
from backend.config.recovery.backup_reports import newest_made, newest_restored, newest_tried
from backend.ingest.quota.usage import LABELS as LIMITS
from backend.ingest.quota.usage import near_limits

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
Sums = Mapping[str, Mapping[tuple[str, ...], float]]
# By the name in `counters`: the labels and the help.
COUNTERS: dict[str, tuple[Sequence[str], str]] = {
    "requests": (("route", "method", "status"), "Requests answered"),
    "comparisons_computed": (("database",), "Comparisons that were computed, and not kept"),
    "uploads_ended": (("state",), "Uploads that were read or given up"),
    "deliveries_ended": (("kind", "state"), "Messages that arrived or were given up"),
    "delivery_attempts_failed": (("kind",), "Attempts to send a message that failed"),
}
HISTOGRAMS: dict[str, tuple[Sequence[str], str]] = {
    "request_seconds": (("kind",), "From the request's head to the answer's"),
    "read_seconds": ((), "How long reading an upload took"),
}
# Each a statement that partial indexes answer, whatever was ever stored.
QUERIES: dict[str, tuple[Sequence[str], str, str]] = {
    "uploads_in_flight": (
        ("state",),
        "Uploads that wait or are being read",
        "SELECT state, count(*) FROM ingest_upload WHERE state = 'received' GROUP BY state"
        " UNION ALL"
        " SELECT state, count(*) FROM ingest_upload WHERE state = 'parsing' GROUP BY state",
    ),
    "upload_queue_age_seconds": (
        (),
        "How long the oldest due upload has waited",
        "SELECT greatest(coalesce(extract(epoch FROM now() - min(received_at)), 0), 0)::float8"
        " FROM ingest_upload WHERE state = 'received'"
        " AND (retry_at IS NULL OR retry_at <= now())",
    ),
    "runs_to_judge": (
        (),
        "Runs that wait for the alert rules",
        "SELECT count(*) FROM alerts_pendingrun",
    ),
    "reports_open": (
        (),
        "Reports of public content that wait for staff",
        "SELECT count(*) FROM accounts_report WHERE closed_at IS NULL",
    ),
    "deliveries_in_flight": (
        ("state",),
        "Messages that wait or are being sent",
        "SELECT state, count(*) FROM deliveries_delivery"
        " WHERE state IN ('waiting', 'sending') GROUP BY state",
    ),
    "delivery_queue_age_seconds": (
        (),
        "How long the oldest due message has waited",
        "SELECT greatest(coalesce(extract(epoch FROM now() - min(retry_at)), 0), 0)::float8"
        " FROM deliveries_delivery WHERE state IN ('waiting', 'sending') AND retry_at <= now()",
    ),
}
# States that have a line also where nothing is in them.
STATES = {
    "uploads_in_flight": ("received", "parsing"),
    "deliveries_in_flight": ("waiting", "sending"),
}


@require_safe
def metrics(request: HttpRequest) -> HttpResponse:
    """The metrics, for METRICS_TOKEN, or without one for this machine only; 404 for others."""
    if not _is_allowed(request):
        raise Http404
    registry = CollectorRegistry()
    registry.register(_Service())
    return HttpResponse(generate_latest(registry), content_type=CONTENT_TYPE)


def _is_allowed(request: HttpRequest) -> bool:
    if settings.METRICS_TOKEN:
        sent = request.headers.get("Authorization", "")
        expected = f"Bearer {settings.METRICS_TOKEN}"
        return hmac.compare_digest(sent.encode(errors="replace"), expected.encode())
    # A request that a proxy on this machine passes on for somebody else is not from this machine.
    is_passed_on = "HTTP_X_FORWARDED_FOR" in request.META or "HTTP_FORWARDED" in request.META
    asked_host = urlsplit(f"//{request.get_host()}").hostname or ""
    sender = request.META.get("REMOTE_ADDR", "")
    return not is_passed_on and _is_this_machine(sender) and _is_this_machine(asked_host)


def _is_this_machine(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


class _Service(Collector):
    """Everything of one scrape. A part that cannot be read is left out, never told as 0."""

    def collect(self) -> Iterator[Metric]:
        """Raises DatabaseError: without the database there is no answer."""
        yield _info()
        sums = counters.read()
        for name, (labels, text) in COUNTERS.items():
            yield _counter(name, labels, text, sums)
        for name, (labels, text) in HISTOGRAMS.items():
            yield _histogram(name, labels, text, sums)
        for name, (labels, text, query) in QUERIES.items():
            yield _gauge(name, labels, text, query)
        yield _limits()
        yield _heartbeats()
        yield from _integrity()
        yield from _backups()
        if (free := _disk()) is not None:
            yield free


def _info() -> Metric:
    family = GaugeMetricFamily("loadsheet_info", "The version that runs", labels=["version"])
    family.add_metric([__version__], 1)
    return family


def _counter(name: str, labels: Sequence[str], text: str, sums: Sums) -> Metric:
    family = CounterMetricFamily(f"loadsheet_{name}", text, labels=labels)
    for values, total in sorted(sums.get(name, {}).items()):
        if len(values) == len(labels):
            family.add_metric(values, total)
    return family


def _histogram(name: str, labels: Sequence[str], text: str, sums: Sums) -> Metric:
    family = HistogramMetricFamily(f"loadsheet_{name}", text, labels=labels)
    in_buckets = sums.get(f"{name}_bucket", {})
    for values in sorted({key[:-1] for key in in_buckets}):
        bounds = [*map(str, counters.BUCKETS_S), "+Inf"]
        counts = [in_buckets.get((*values, str(at)), 0.0) for at in range(len(bounds))]
        cumulative = [(bound, sum(counts[: at + 1])) for at, bound in enumerate(bounds)]
        total_s = sums.get(f"{name}_sum", {}).get(values, 0.0)
        family.add_metric(values, buckets=cumulative, sum_value=total_s)
    return family


def _gauge(name: str, labels: Sequence[str], text: str, query: str) -> Metric:
    family = GaugeMetricFamily(f"loadsheet_{name}", text, labels=labels)
    with connection.cursor() as cursor:
        cursor.execute(query)
        rows = {tuple(map(str, row[:-1])): float(row[-1]) for row in cursor.fetchall()}
    for state in STATES.get(name, ()):
        rows.setdefault((state,), 0.0)
    for values, value in sorted(rows.items()):
        family.add_metric(values, value)
    return family


def _limits() -> Metric:
    """Counts alone: metrics name no workspace."""
    text = "Workspaces that use 80 % of a limit or more, or have reached it"
    family = GaugeMetricFamily("loadsheet_workspaces_near_limit", text, labels=["limit", "state"])
    near = near_limits()
    for limit in LIMITS:
        of_limit = [workspace.is_reached for workspace in near if workspace.id == limit]
        family.add_metric([limit, "reached"], sum(of_limit))
        family.add_metric([limit, "near"], len(of_limit) - sum(of_limit))
    return family


def _heartbeats() -> Metric:
    text = "Seconds since each part's last heartbeat; a part without one has no line"
    family = GaugeMetricFamily("loadsheet_heartbeat_age_seconds", text, labels=["part"])
    for part, age_s in heartbeat.ages().items():
        if age_s is not None:
            family.add_metric([part], age_s)
    return family


def _integrity() -> Iterator[Metric]:
    """Checks that could not end have no number of problems."""
    text = "What the last integrity checks found missing"
    problems = GaugeMetricFamily("loadsheet_integrity_problems", text, labels=["checks"])
    text = "How long ago the last integrity checks ended"
    ages = GaugeMetricFamily("loadsheet_integrity_age_seconds", text, labels=["checks"])
    for report in newest_reports():
        ages.add_metric([report.kind], (timezone.now() - report.at).total_seconds())
        if not report.reason:
            problems.add_metric([report.kind], report.problem_count)
    yield problems
    yield ages


def _backups() -> Iterator[Metric]:
    """No lines where no backup was ever made, or none was restored to try it."""
    ages = {
        "backup_age_seconds": ("How long ago the newest backup was made", newest_made()),
        "backup_restored_age_seconds": (
            "How old the newest backup is that was restored to try it",
            newest_restored(),
        ),
    }
    for name, (text, report) in ages.items():
        family = GaugeMetricFamily(f"loadsheet_{name}", text)
        if report is not None:
            family.add_metric([], (timezone.now() - report.at).total_seconds())
        yield family
    text = "1 where the last backup that was restored to try it had a problem, else 0"
    problem = GaugeMetricFamily("loadsheet_backup_restore_problem", text)
    if (tried := newest_tried()) is not None:
        problem.add_metric([], bool(tried.restore_problem))
    yield problem


def _disk() -> Metric | None:
    """None where artefacts are in a bucket, and where the disk cannot be asked."""
    if settings.S3_BUCKET:
        return None
    try:
        free = shutil.disk_usage(settings.DATA_DIR).free
    except OSError:
        return None
    return GaugeMetricFamily(
        "loadsheet_disk_free_bytes", "Free on the disk of DATA_DIR", value=free
    )

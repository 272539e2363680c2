"""/metrics: who may read it, and what it says; the ids of log lines; reports of faults."""

import json
import logging
import re

import pytest
from django.test import Client
from prometheus_client.parser import text_string_to_metric_families

from backend import counters, log_context
from backend.broker import CACHE, cache_client
from backend.config.environment.logs import JsonFormatter
from backend.config.health.verification_task import REPORTS_KEPT, check_integrity
from backend.config.models import IntegrityReport
from backend.config.processes import error_reports
from backend.deliveries.models import Channel, Delivery
from backend.deliveries.queue import Message, enqueue_for
from backend.ingest.queue.worker import process
from backend.storage import storage
from backend.testing.scenes import make_alerts, make_scene
from backend.testing.uploads import make_tenant, make_upload

SECRET = "ls_agent_" + "0123456789abcdefghijABCDEFGHIJ" + "abcdef"
pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _own_counters(own_storage):
    # Another test may have found the cache away.
    CACHE.pause(0)
    cache_client().delete(counters.KEY)
    counters.flush()
    cache_client().delete(counters.KEY)


def scrape(**headers):
    return Client(SERVER_NAME="localhost").get("/metrics", headers=headers)


def samples():
    text = scrape().content.decode()
    return {
        (sample.name, tuple(sorted(sample.labels.items()))): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }


def test_only_this_machine_reads_them_without_a_token():
    assert scrape().status_code == 200
    here = {"SERVER_NAME": "127.0.0.1", "REMOTE_ADDR": "::1"}
    assert Client(**here).get("/metrics").status_code == 200
    for other in ({"REMOTE_ADDR": "192.0.2.7"}, {"SERVER_NAME": "testserver"}):
        assert Client(**{**here, **other}).get("/metrics").status_code == 404
    # A proxy on this machine passes on the request of somebody else.
    assert scrape(x_forwarded_for="127.0.0.1").status_code == 404


def test_a_token_is_needed_where_one_is_set(settings):
    settings.METRICS_TOKEN = "s3cret-of-prometheus"
    for header in ("", "Bearer wrong", "Bearer s3cret-of-prometheu", "s3cret-of-prometheus"):
        assert scrape(authorization=header).status_code == 404
    assert scrape(authorization="Bearer s3cret-of-prometheus").status_code == 200


def test_requests_are_counted_by_route_and_never_by_path():
    before = samples().get(
        ("loadsheet_requests_total", (("method", "GET"), ("route", "livez"), ("status", "200"))), 0
    )
    Client().get("/livez")
    Client().get("/no/such/path-with-a-secret")
    text = scrape().content.decode()
    after = samples()[
        ("loadsheet_requests_total", (("method", "GET"), ("route", "livez"), ("status", "200")))
    ]
    assert after == before + 1
    assert "path-with-a-secret" not in text
    assert 'route="none"' in text


def test_durations_are_a_histogram_of_all_requests():
    Client().get("/livez")
    values = samples()
    count = values["loadsheet_request_seconds_count", (("kind", "page"),)]
    in_all = values["loadsheet_request_seconds_bucket", (("kind", "page"), ("le", "+Inf"))]
    assert count == in_all >= 1
    assert values["loadsheet_request_seconds_sum", (("kind", "page"),)] > 0


def test_uploads_are_told_while_they_wait_and_when_they_ended():
    tenant = make_tenant("lab")
    upload = make_upload(tenant)
    make_upload(tenant, "no output of a load tool")
    values = samples()
    assert values["loadsheet_uploads_in_flight", (("state", "received"),)] == 2
    assert values["loadsheet_uploads_in_flight", (("state", "parsing"),)] == 0
    assert values["loadsheet_upload_queue_age_seconds", ()] >= 0
    process(upload.pk)
    values = samples()
    assert values["loadsheet_uploads_in_flight", (("state", "received"),)] == 1
    assert values["loadsheet_uploads_ended_total", (("state", "parsed"),)] == 1
    assert values["loadsheet_read_seconds_count", ()] == 1


def test_messages_that_wait_are_told():
    scene = make_scene()
    make_alerts(scene.own, scene.run)
    enqueue_for(Channel.objects.get(), Message("test", "a", "b", "http://127.0.0.1/"))
    assert samples()["loadsheet_deliveries_in_flight", (("state", "waiting"),)] == 1
    assert Delivery.objects.count() == 1


def test_what_the_cache_did_not_take_is_kept(monkeypatch):
    counters.count("requests", "r", "GET", "200", by=3)
    monkeypatch.setattr(counters, "_add", lambda _: False)
    counters.flush()
    monkeypatch.undo()
    assert counters.read()["requests"]["r", "GET", "200"] == 3


def test_every_answer_has_an_id_which_log_lines_have_too():
    assert re.fullmatch("[0-9a-f]{32}", Client().get("/livez")["X-Request-Id"])
    given = Client().get("/livez", headers={"x-request-id": "from-the-proxy-1"})
    assert given["X-Request-Id"] == "from-the-proxy-1"
    forged = Client().get("/livez", headers={"x-request-id": 'x"}\n{"level":"info'})
    assert re.fullmatch("[0-9a-f]{32}", forged["X-Request-Id"])


def line_of(message, **extra):
    record = logging.makeLogRecord({"msg": message, "levelname": "INFO", **extra})
    return json.loads(JsonFormatter().format(record))


def test_ids_are_in_every_line_inside_and_in_none_after():
    with log_context.bound(request_id="r1"):
        log_context.add(workspace="lab")
        inside = line_of("event")
        assert line_of("event", upload="u1")["upload"] == "u1"
    assert (inside["request_id"], inside["workspace"]) == ("r1", "lab")
    assert "request_id" not in line_of("event")
    assert "workspace" not in line_of("event")


def test_a_fault_is_reported_without_secrets_and_only_where_a_dsn_is_set(settings):
    import sentry_sdk
    from sentry_sdk.transport import Transport

    events = []

    class Kept(Transport):
        def capture_envelope(self, envelope):
            events.extend(filter(None, [envelope.get_event()]))

    settings.SENTRY_DSN = ""
    error_reports.start(transport=Kept)
    sentry_sdk.capture_message("not sent")
    settings.SENTRY_DSN = "http://key@127.0.0.1:1/1"
    error_reports.start(transport=Kept, default_integrations=False)
    try:
        with log_context.bound(request_id="r1"):
            try:
                password = "-".join(["hunter2", "of", "ada"])
                raise RuntimeError(f"Authorization: Bearer {SECRET}")
            except RuntimeError:
                sentry_sdk.capture_exception()
        sentry_sdk.flush()
    finally:
        sentry_sdk.get_client().close()
        sentry_sdk.init()
    (event,) = events
    text = json.dumps(event)
    assert event["tags"]["request_id"] == "r1"
    assert password not in text
    assert SECRET not in text


def staff():
    scene = make_scene()
    scene.own.user.is_staff = True
    scene.own.user.save()
    client = Client()
    client.force_login(scene.own.user)
    return client, scene


def test_the_operator_sees_the_state_and_no_content():
    client, _ = staff()
    check_integrity()
    html = client.get("/operator").content.decode()
    assert "Everything is accounted for" in html
    assert "uploads received" in html
    assert "PostgreSQL" in html
    assert "secret" not in html


def test_problems_are_shown():
    client, scene = staff()
    storage().remove(scene.artefact.sha256)
    check_integrity()
    html = client.get("/operator").content.decode()
    assert "Problems" in html
    assert f"{scene.artefact.sha256} is missing" in html


def test_a_few_reports_are_kept():
    for _ in range(REPORTS_KEPT + 2):
        check_integrity()
    assert IntegrityReport.objects.count() == REPORTS_KEPT


def test_who_is_no_staff_finds_no_page():
    scene = make_scene()
    client = Client()
    client.force_login(scene.own.user)
    assert client.get("/operator").status_code == 404
    assert client.post("/operator/check").status_code == 404

"""Open loops are compared at the rate that they offered, whichever way it is known."""

import json
from datetime import UTC, datetime, timedelta

import pytest

from backend.analysis.compare.comparison import compare
from backend.analysis.figures import plain_figures
from backend.analysis.query.compare_query import CompareQuery
from backend.ingest.queue.worker import process
from backend.runs.models import Cell, Trial
from backend.testing.made.printing import made_open_trial, made_trial, print_trial
from backend.testing.uploads import make_envelope, make_tenant, make_trial, make_upload

pytestmark = pytest.mark.django_db

BANNER = """     execution: local
        script: load.js
        output: -

     scenarios: (100.00%) 1 scenario, 50 max VUs, 34s max duration (incl. graceful stop):
              * default: 3000.00 iterations/s for 4s (maxVUs: 10-50, gracefulStop: 30s)

"""


BEGIN = datetime(2026, 3, 1, 12, tzinfo=UTC)


def k6_log(*, sent_rps, offered_rps, seconds=4, milliseconds=5.0):
    """A log of --out json, in which each request that was not sent is a dropped iteration."""

    def point(metric, second, value, **tags):
        time = (BEGIN + timedelta(seconds=second)).isoformat().replace("+00:00", "Z")
        data = {"time": time, "value": value, "tags": tags}
        return json.dumps({"metric": metric, "type": "Point", "data": data}, separators=(",", ":"))

    tags = {"status": "200", "expected_response": "true", "url": "http://10.0.0.2:8080/"}
    lines = []
    for at in range(round(sent_rps * seconds)):
        second = at / sent_rps + milliseconds / 1000
        lines += [
            point("http_reqs", second, 1, **tags),
            point("http_req_duration", second, milliseconds, **tags),
            point("iterations", second, 1),
        ]
    dropped = round((offered_rps - sent_rps) * seconds)
    lines += [point("dropped_iterations", at / dropped * seconds, 1) for at in range(dropped)]
    return "\n".join(lines) + "\n"


@pytest.fixture
def tenant():
    return make_tenant()


def record(tenant, texts_by_server, **load):
    pairs = [(name, text) for name, texts in texts_by_server.items() for text in texts]
    trials = [
        make_trial(index, server={"name": name, "version": "1"}, load=load, command=[])
        for index, (name, _) in enumerate(pairs)
    ]
    row = make_upload(
        tenant, *(text for _, text in pairs), envelope={**make_envelope(), "trials": trials}
    )
    process(row.pk)
    row.refresh_from_db()
    return row.run_id


def ask(tenant, text="metric=p99"):
    return plain_figures(compare(CompareQuery.parse(text), workspace_ids=[tenant.workspace.pk]))


def attacks(tool, median_us):
    trials = (made_open_trial(500, median_us=median_us, seed=seed) for seed in range(3))
    return [print_trial(tool, trial) for trial in trials]


@pytest.mark.parametrize("tool", ["vegeta", "vegeta CSV"])
def test_vegeta_is_compared_at_the_rate_that_it_sent(tenant, tool):
    record(tenant, {"fast": attacks(tool, 2_000), "slow": attacks(tool, 4_000)})
    figures = ask(tenant)
    assert figures["x"]["field"] == "rate"
    assert figures["ranking"]["x"] == 500
    assert [row["label"] for row in figures["ranking"]["rows"]] == ["fast 1", "slow 1"]
    assert "at 500 offered requests/s" in figures["finding"]


def test_a_command_says_the_rate_that_vegeta_could_not_send(tenant):
    texts = [
        f"$ echo 'GET http://10.0.0.2/' | vegeta attack -rate=900/s | vegeta report\n{text}"
        for text in attacks("vegeta", 2_000)
    ]
    run_id = record(tenant, {"a": texts})
    assert [cell.rate_rps for cell in Cell.objects.filter(run=run_id)] == [900]
    for trial in Trial.objects.filter(run=run_id):
        details = {finding["id"]: finding["detail"] for finding in trial.checks}
        assert details["unsent"] == "The load tool sent 55.5 % of the offered requests."
        assert details["overload"].startswith("500 of 900 offered requests/s were answered")


def test_k6_at_an_arrival_rate(tenant):
    def text(seed, dropped=0):
        report = print_trial("k6", made_trial(3_000, seed=seed))
        drops = f"    dropped_iterations.............: {dropped}   250.0/s\n" if dropped else ""
        return BANNER + report.replace("    vus...", f"{drops}    vus...", 1)

    record(tenant, {"a": [text(1), text(2), text(3)]})
    assert ask(tenant)["ranking"]["x"] == 3_000
    record(tenant, {"b": [text(seed, dropped=9_000) for seed in (4, 5, 6)]})
    for trial in Trial.objects.filter(cell__series__server__name="b"):
        assert {"unsent"} <= {finding["id"] for finding in trial.checks}


@pytest.mark.parametrize("offered_in_log", [600, 183])
def test_a_log_of_k6_that_answered_fewer_requests_is_overloaded(tenant, offered_in_log):
    """By its dropped iterations, and without them by the seconds that the log reaches."""
    log = k6_log(sent_rps=183, offered_rps=offered_in_log)
    record(tenant, {"a": [log]}, tool="k6", loop="open", rate_rps=600)
    (trial,) = Trial.objects.all()
    details = {finding["id"]: finding["detail"] for finding in trial.checks}
    most = "183" if offered_in_log == 600 else "244"
    assert details["overload"].startswith(f"At most {most} of 600 offered requests/s were answered")
    unsent = "The load tool sent 30.5 % of the offered requests."
    assert details.get("unsent") == (unsent if offered_in_log == 600 else None)
    (row,) = ask(tenant)["ranking"]["rows"]
    assert row["why"] == "The offered rate was not reached, so the latency is not ranked."


def test_a_log_of_k6_at_the_offered_rate_is_ranked(tenant):
    logs = [k6_log(sent_rps=600, offered_rps=600, milliseconds=ms) for ms in (5.0, 5.1, 5.2)]
    record(tenant, {"a": logs}, tool="k6", loop="open", rate_rps=600)
    (row,) = ask(tenant)["ranking"]["rows"]
    assert row["why"] is None


def test_an_open_loop_of_unknown_rate_says_what_is_missing(tenant):
    log = k6_log(sent_rps=100, offered_rps=200)
    record(tenant, {"a": [log]}, tool="k6", loop="open")
    figures = ask(tenant)
    assert figures["finding"] == "No comparison: the load of every series is unknown"
    (reason, *_) = figures["answer"]["trust"]["reasons"]
    assert reason["remedy"].startswith("Upload the outputs again with their load")

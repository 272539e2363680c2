"""The real agent and the real service, with everything between them that can go wrong.

The same with 100 MB and 200 kills: `scripts/bench agent --proofs`.
"""

import random
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from backend.ingest.models import Artefact, Part, State, Upload
from backend.runs.models import Run, Trial
from backend.testing.delivery_checks import (
    Aim,
    kill_agents,
    run_agent,
    send_through_cuts,
    write_large_result,
)
from backend.testing.faulty_proxy import FaultyProxy
from backend.testing.reports import WRK
from backend.testing.running import make_machine
from backend.testing.scale.machines import start_all
from backend.testing.uploads import make_tenant
from backend.untrusted.secrets.redaction import Redactor

SEED = random.randrange(1 << 30)
# Ends a test that hangs; the line and the pauses of the agent take a quarter of a minute.
LIMIT_S = 600
pytestmark = [pytest.mark.chaos, pytest.mark.django_db(transaction=True)]


@pytest.fixture(scope="module")
def web(django_db_setup, tmp_path_factory):
    """A web server and a worker on the database of these tests, started once."""
    data = tmp_path_factory.mktemp("data")
    web, worker = (make_machine(name, data, POLL_INTERVAL_S="1") for name in ("web", "worker"))
    try:
        start_all([web], [worker], readers=2)
        yield web
    finally:
        web.kill()
        worker.kill()


@pytest.fixture
def aim(web):
    return Aim(web.url, make_tenant().token)


def test_no_random_body_looks_like_a_key(tmp_path):
    # With this seed, body 2,256 had AIza and 34 letters and digits: the service took them out.
    write_large_result(tmp_path / "results.json", 7_000_000, seed=39)
    text = (tmp_path / "results.json").read_text()
    assert Redactor().text(text) == text


@pytest.mark.timeout(LIMIT_S)
def test_fifteen_megabytes_over_a_line_cut_five_times(aim, tmp_path):
    sent = send_through_cuts(aim, tmp_path, size_bytes=15_000_000, cuts=5, seed=SEED)
    print(f"{sent}, {sent.resent_share:.1%} sent again, seed {SEED}")  # noqa: T201
    assert sent.cuts == 5
    assert sent.resent_share <= 0.1, (SEED, sent)
    assert Upload.objects.get().state == State.PARSED
    assert Run.objects.count() == Trial.objects.count() == Artefact.objects.count() == 1
    assert not Part.objects.exists()


@pytest.fixture
def results(tmp_path):
    """Small results, each another."""
    paths = [tmp_path / f"{number}.txt" for number in range(3)]
    for number, path in enumerate(paths):
        path.write_text(WRK + f"\nof measurement {number}\n")
    return paths


def send(aim, spool, path):
    done = run_agent(aim, spool, "upload", path, "--json", timeout_s=LIMIT_S)
    assert done.returncode == 0, done.stderr
    return done


def there_once(results):
    assert {upload.state for upload in Upload.objects.all()} == {State.PARSED}
    names = sorted(Artefact.objects.values_list("name", flat=True))
    assert names == sorted(path.name for path in results)
    assert Run.objects.count() == Trial.objects.count() == len(results)


@pytest.mark.timeout(LIMIT_S)
def test_a_service_that_is_down_for_three_seconds(aim, web, tmp_path, results):
    web.kill()
    with ThreadPoolExecutor(1) as pool:
        sending = pool.submit(send, aim, tmp_path / "spool", results[0])
        time.sleep(3)
        assert not sending.done()
        start_all([web], [], readers=0)
        done = sending.result()
    assert "was not reached" in done.stderr
    there_once(results[:1])


@pytest.mark.timeout(LIMIT_S)
def test_faults_of_all_kinds_one_after_the_other(aim, tmp_path, results):
    """500, 429 with Retry-After, a gateway's 502 and 503, and answers that get lost."""
    with FaultyProxy(aim.port) as proxy:
        through = aim.through(proxy)
        proxy.answer(500, times=2)
        assert send(through, tmp_path / "spool", results[0]).stderr.count("answered 500") == 2
        proxy.answer(429, retry_after="2")
        began = time.monotonic()
        send(through, tmp_path / "spool", results[1])
        assert time.monotonic() - began >= 2, "sooner than Retry-After"
        proxy.answer(503)
        proxy.answer(502)
        proxy.lose_answers(1)
        send(through, tmp_path / "spool", results[2])
    there_once(results)


@pytest.mark.timeout(LIMIT_S)
def test_eight_kills_of_the_agent_at_random_moments(aim, tmp_path):
    found = kill_agents(aim, tmp_path, kills=8, seed=SEED)
    print(f"{found}, seed {SEED}")  # noqa: T201
    assert found.faults == [], SEED
    assert found.kills == 8
    assert 0 < found.trials_finished <= found.trials_recorded
    assert found.interrupted_runs

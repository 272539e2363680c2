"""What was seen on the server host finds the trials it lies in, by the service's clock."""

import uuid
from datetime import UTC, datetime, timedelta

import pytest
from django.test import Client

from backend.ingest.models import Upload
from backend.ingest.queue.worker import process
from backend.ingest.reprocessing.editing import edit_run, undo_edit
from backend.ingest.reprocessing.reprocess import reprocess
from backend.runs.models import Observation, Run, Series, Trial
from backend.runs.recording import observations
from backend.runs.recording.observations import Sample, observe, resource_use
from backend.testing.uploads import WRK, make_envelope, make_tenant, make_trial, make_upload

BEGAN = datetime(2026, 1, 31, 12, tzinfo=UTC)
HOST = {
    "name": "server-1",
    "cpu_model": "EPYC",
    "cores": 8,
    "facts": {"somaxconn": "4096", "nic_speed_mbit": 10_000},
}
# The client's clock is this much behind the service's.
BEHIND_S = 100.0


pytestmark = pytest.mark.usefixtures("own_storage")


def samples(first_s, count, *, each_s=1.0, cpu_per_s=0.5, rss=1_000_000):
    """From `first_s` seconds after BEGAN on; memory grows by a byte a sample."""
    return [
        Sample(
            at_s=BEGAN.timestamp() + first_s + n * each_s,
            cpu_s=7.0 + cpu_per_s * n * each_s,
            rss_bytes=rss + n,
            threads=4,
            processes=2,
            time_wait=n,
            cores=[0.5, 0.25],
        )
        for n in range(count)
    ]


def at(seconds):
    return BEGAN.timestamp() + seconds


class TestMatching:
    def test_figures_of_the_samples_that_lie_in_the_time(self):
        used = resource_use(samples(0, 30), at(10), at(20))
        assert used["server_samples"] == 11
        assert used["server_cpu_s"] == pytest.approx(5.0)
        assert used["server_rss_peak_bytes"] == used["server_rss_bytes"] == 1_000_020
        assert (used["server_threads_peak"], used["server_processes_peak"]) == (4, 2)
        assert used["server_time_wait_peak"] == 20
        assert used["server_host_cpu_per_core"] == [0.5, 0.25]

    def test_cpu_time_is_read_between_two_samples(self):
        used = resource_use(samples(0, 30), at(10.5), at(20.25))
        assert used["server_cpu_s"] == pytest.approx(4.875)

    @pytest.mark.parametrize(("first", "count"), [(12, 30), (0, 18), (200, 5)])
    def test_a_time_that_is_not_covered_has_no_cpu_time(self, first, count):
        used = resource_use(samples(first, count), at(5), at(25))
        assert used.get("server_cpu_s") is None

    def test_a_server_that_was_started_again_has_no_cpu_time(self):
        restarted = samples(0, 15, cpu_per_s=2.0) + samples(15, 15)
        used = resource_use(restarted, at(10), at(20))
        assert used["server_cpu_s"] is None
        assert used["server_rss_peak_bytes"] > 0

    def test_nothing_seen_is_nothing_known(self):
        assert resource_use([], at(0), at(9)) == {}
        assert resource_use(samples(50, 5), at(0), at(9)) == {}

    def test_what_the_host_does_not_say_stays_unknown(self):
        bare = [Sample(at_s=BEGAN.timestamp() + n) for n in range(5)]
        used = resource_use(bare, at(0), at(4))
        assert used["server_samples"] == 5
        assert {value for key, value in used.items() if key != "server_samples"} == {None}


class Counted(list):
    """Counts the samples that are looked at."""

    looked_at = 0

    def __getitem__(self, place):
        got = super().__getitem__(place)
        self.looked_at += len(got) if isinstance(place, slice) else 1
        return got

    def __iter__(self):
        self.looked_at += len(self)
        return super().__iter__()


def test_a_trial_looks_at_the_samples_of_its_time_alone():
    """Each of 5,000 trials looked at all 20,000 samples three times: 40 s of a web process."""
    many = Counted(samples(0, 20_000))
    assert resource_use(many, at(9_000), at(9_010))["server_cpu_s"] == pytest.approx(5.0)
    assert many.looked_at < 200


def send(tenant, run_id, ordinal, *, last=False, clock=True):
    """A trial of 10 s, 20 s after the one before, of a run whose server is elsewhere."""
    began = BEGAN + timedelta(seconds=20 * ordinal - BEHIND_S)
    trial = make_trial(
        ordinal,
        artefacts=["0.txt"],
        started_at=began.isoformat(),
        finished_at=(began + timedelta(seconds=10)).isoformat(),
        resources={"client_cpu_s": 1.0, "server_rss_bytes": None},
    )
    envelope = {**make_envelope(0, same_host=False), "trials": [trial]}
    if last:
        envelope["id"] = str(run_id)
    envelope["run"] |= {"id": str(run_id), "plan": "[load]"}
    facts = {"clock": {"offset_s": BEHIND_S}} if clock else {}
    envelope["hosts"] = {"client": {"name": "client-1", "facts": facts}, "server": None}
    upload = make_upload(tenant, WRK, envelope=envelope)
    process(upload.pk)
    upload.refresh_from_db()
    assert upload.state == "parsed", upload.reason


def see(tenant, run_id, found, **more):
    return observe(
        tenant.workspace,
        **{"id_": uuid.uuid4(), "run_id": run_id, "host": HOST, **more},
        uncertainty_s=0.002,
        samples=found,
    )


def checks_of(run_id):
    return {one["id"] for row in Trial.objects.filter(run=run_id) for one in row.checks}


@pytest.mark.django_db
class TestRuns:
    @pytest.mark.parametrize("when", ["before", "between", "after"])
    def test_it_does_not_matter_when_it_comes(self, when):
        tenant, run_id = make_tenant("lab"), uuid.uuid4()
        found = samples(-5, 60)
        if when == "before":
            see(tenant, run_id, found)
        send(tenant, run_id, 0)
        if when == "between":
            see(tenant, run_id, found)
        send(tenant, run_id, 1, last=True)
        if when == "after":
            assert "unknown-host" in checks_of(run_id)
            see(tenant, run_id, found)
        run = Run.objects.get(pk=run_id)
        assert (run.server_host.name, run.server_host.cores) == ("server-1", 8)
        assert run.facts["server"]["somaxconn"] == "4096"
        assert run.facts["client"]["clock"]["offset_s"] == BEHIND_S
        assert "unknown-host" not in checks_of(run_id)
        (series,) = Series.objects.filter(cells__run=run_id).distinct()
        assert series.server_host == run.server_host
        for trial in Trial.objects.filter(run=run_id):
            assert trial.resources["server_cpu_s"] == pytest.approx(5.0)
            assert trial.resources["server_samples"] == 11
            assert trial.resources["server_clock_uncertainty_s"] == 0.002
            assert trial.resources["client_cpu_s"] == 1.0

    def test_without_the_clients_clock_only_the_host_is_known(self):
        tenant, run_id = make_tenant("lab"), uuid.uuid4()
        send(tenant, run_id, 0, last=True, clock=False)
        see(tenant, run_id, samples(-5, 60))
        assert Run.objects.get(pk=run_id).server_host.name == "server-1"
        trial = Trial.objects.get(run=run_id)
        assert trial.resources == {"client_cpu_s": 1.0, "server_rss_bytes": None}

    def test_the_same_observation_again_changes_nothing(self):
        tenant, run_id, id_ = make_tenant("lab"), uuid.uuid4(), uuid.uuid4()
        send(tenant, run_id, 0, last=True)
        see(tenant, run_id, samples(-5, 60), id_=id_)
        before = Trial.objects.get(run=run_id).resources
        see(tenant, run_id, [], id_=id_)
        assert Trial.objects.get(run=run_id).resources == before
        assert Observation.objects.count() == 1

    def test_a_member_may_say_that_the_observed_host_is_not_the_servers(self):
        tenant, run_id = make_tenant("lab"), uuid.uuid4()
        send(tenant, run_id, 0, last=True)
        see(tenant, run_id, samples(-5, 60))
        run = Run.objects.select_related("workspace").get(pk=run_id)
        (correction,) = edit_run(run, {"server_host": None}, author=tenant.user)
        assert Run.objects.get(pk=run_id).server_host is None
        see(tenant, run_id, samples(-5, 60))
        reprocess(Upload.objects.get(run=run_id).pk)
        assert Run.objects.get(pk=run_id).server_host is None
        assert "unknown-host" in checks_of(run_id)
        undo_edit(run, correction.pk, by=tenant.user)
        assert Run.objects.get(pk=run_id).server_host.name == "server-1"
        assert "unknown-host" not in checks_of(run_id)

    def test_over_the_api_and_on_the_page(self):
        tenant, run_id = make_tenant("lab"), uuid.uuid4()
        body = {
            "id": str(uuid.uuid4()),
            "host": HOST,
            "uncertainty_s": 0.002,
            "samples": [{"at_s": one.at_s, "cpu_s": one.cpu_s} for one in samples(-5, 60)],
        }
        path = f"/api/v1/runs/{run_id}/observations"
        api = Client(headers=tenant.headers)
        assert api.post(path, body, content_type="application/json").status_code == 404
        send(tenant, run_id, 0, last=True)
        answer = api.post(path, body, content_type="application/json")
        assert (answer.status_code, answer.json()["samples"]) == (201, 60)
        trial = api.get(f"/api/v1/runs/{run_id}").json()["trials"][0]
        assert trial["resources"]["server_cpu_s"] == 5.0
        person = Client()
        person.force_login(tenant.user)
        page = person.get(f"/t/{trial['id']}").content.decode()
        assert "Samples on its host" in page
        assert "server-1" in page
        other = Client(headers=make_tenant("other").headers)
        assert other.post(path, body, content_type="application/json").status_code == 404
        bad = api.post(path, {**body, "host": {"cores": "many"}}, content_type="application/json")
        assert bad.status_code == 400
        assert "cores" in bad.json()["detail"]


@pytest.fixture
def reads(monkeypatch):
    """How many samples each reading of an observation gave."""
    reads, samples_of = [], observations.samples_of

    def counted(observation):
        found = samples_of(observation)
        reads.append(len(found))
        return found

    monkeypatch.setattr(observations, "samples_of", counted)
    return reads


@pytest.mark.django_db
class TestLongRuns:
    @pytest.fixture
    def run_id(self):
        return uuid.uuid4()

    @pytest.fixture
    def tenant(self, run_id):
        """Of ten trials, each 20 s after the one before."""
        tenant = make_tenant("lab")
        for ordinal in range(10):
            send(tenant, run_id, ordinal)
        return tenant

    def figures(self, run_id):
        rows = Trial.objects.filter(run=run_id).order_by("ordinal")
        return [
            (trial.resources.get("server_samples"), trial.resources.get("server_cpu_s"))
            for trial in rows
        ]

    def test_an_observation_reads_itself_and_its_neighbours_however_many_came_before(
        self, tenant, run_id, reads
    ):
        """Each read all before it: the last of a day had a hundred thousand samples to read."""
        most = 0
        for part in range(10):
            reads.clear()
            see(tenant, run_id, samples(20 * part - 5, 20))
            most = max(most, len(reads))
        assert most == 2
        assert self.figures(run_id) == [(11, pytest.approx(5.0))] * 10

    def test_a_trial_that_comes_reads_what_was_seen_of_it_alone(self, tenant, run_id, reads):
        for part in range(11):
            see(tenant, run_id, samples(20 * part - 5, 20))
        reads.clear()
        send(tenant, run_id, 10)
        assert len(reads) == 1
        assert self.figures(run_id)[10] == (11, pytest.approx(5.0))

    def test_a_trial_that_goes_on_in_the_next_observation_has_the_figures_of_both(
        self, tenant, run_id
    ):
        """An agent sends its samples every five minutes, whatever is measured then."""
        seen = samples(-5, 30)
        for some in (seen[:10], seen[10:]):
            see(tenant, run_id, some)
        resources = Trial.objects.get(run=run_id, ordinal=0).resources
        assert (resources["server_samples"], resources["server_rss_peak_bytes"]) == (11, 1_000_015)
        assert resources["server_cpu_s"] == pytest.approx(5.0)
        assert resources["client_cpu_s"] == 1.0

    def test_an_observation_that_was_kept_without_its_times_is_read_once_for_them(
        self, tenant, run_id, reads
    ):
        see(tenant, run_id, samples(-5, 20))
        Observation.objects.update(first_s=None, last_s=None)
        Trial.objects.filter(run=run_id).update(resources={})
        observations.apply_observations(run_id)
        assert self.figures(run_id)[0] == (11, pytest.approx(5.0))
        first = Observation.objects.get()
        assert (first.first_s, first.last_s) == (at(-5), at(14))
        reads.clear()
        see(tenant, run_id, samples(100, 20))
        assert len(reads) == 1

    @pytest.mark.parametrize("limit", ["MOST_AT_ONCE", "MOST_READ"])
    def test_of_more_samples_than_are_read_the_earliest_are_left_out(
        self, tenant, run_id, limit, reads, monkeypatch
    ):
        for part in range(10):
            see(tenant, run_id, samples(20 * part - 5, 20))
        Trial.objects.filter(run=run_id).update(resources={})
        monkeypatch.setattr(observations, limit, 60)
        reads.clear()
        observations.apply_observations(run_id)
        assert sum(reads) == 60
        known = [(11, pytest.approx(5.0))] * 3
        assert self.figures(run_id) == [(None, None)] * 7 + known

    def test_the_hours_of_a_run_are_read_one_after_the_other(
        self, tenant, run_id, reads, monkeypatch
    ):
        for part in range(10):
            see(tenant, run_id, samples(20 * part - 5, 20))
        Trial.objects.filter(run=run_id).update(resources={})
        monkeypatch.setattr(observations, "MOST_AT_ONCE", 80)
        monkeypatch.setattr(observations, "PORTION_S", 40)
        observations.apply_observations(run_id)
        assert self.figures(run_id) == [(11, pytest.approx(5.0))] * 10

    def test_trials_at_one_time_look_at_so_many_samples_together(self, tenant, run_id, monkeypatch):
        monkeypatch.setattr(observations, "MOST_LOOKED_AT", 45)
        see(tenant, run_id, samples(-5, 210))
        assert self.figures(run_id) == [(11, pytest.approx(5.0))] * 4 + [(None, None)] * 6

    @pytest.mark.parametrize("offset_s", [1e300, -2e9, "1", None])
    def test_an_offset_that_no_clock_has_is_unknown(self, tenant, run_id, offset_s):
        run = Run.objects.get(pk=run_id)
        run.facts = {"client": {"clock": {"offset_s": offset_s}}}
        run.save(update_fields=["facts"])
        see(tenant, run_id, samples(-5, 20))
        assert self.figures(run_id) == [(None, None)] * 10

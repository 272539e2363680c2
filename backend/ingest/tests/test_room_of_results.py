"""What the results of one upload hold in the worker is bounded; the output of all is kept."""

import tracemalloc

import orjson
import pytest

from backend.formats.model import ParsedTrial, TimeSlice
from backend.ingest.models import State
from backend.ingest.queue.worker import process
from backend.ingest.reading import answers
from backend.runs.models import Trial, TrialTimeline
from backend.storage import open_artefact
from backend.testing.uploads import WRK, make_envelope, make_tenant, make_trial, make_upload
from backend.untrusted.sandbox.child_answers import as_entry, trial_of

TEXTS = [WRK.replace("18000 requests", f"{18_000 + each} requests") for each in range(4)]
SECONDS = 20_000


@pytest.fixture
def tenant():
    return make_tenant()


@pytest.fixture
def room_for_two(monkeypatch):
    """Answers about these outputs have 1 to 2 KB each."""
    sizes, keep = [], answers.Answers._keep

    def watched(self, key, answer):
        sizes.append(len(orjson.dumps(answer)))
        monkeypatch.setattr(answers, "MOST_BYTES", int(2.5 * sizes[0]))
        keep(self, key, answer)

    monkeypatch.setattr(answers.Answers, "_keep", watched)


def read(tenant, texts, envelope):
    upload = make_upload(tenant, *texts, envelope=envelope)
    process(upload.pk)
    upload.refresh_from_db()
    return upload


@pytest.mark.django_db
@pytest.mark.usefixtures("room_for_two")
def test_trials_without_room_have_no_results_and_say_so(tenant):
    upload = read(tenant, TEXTS, make_envelope(4))
    assert upload.state == State.PARSED
    assert upload.reason.splitlines() == [
        "2 of 4 results could not be read.",
        f"Trial 2, Trial 3: {answers.TOO_MUCH}",
    ]
    errors = Trial.objects.order_by("ordinal").values_list("error", flat=True)
    assert list(errors) == ["", "", answers.TOO_MUCH, answers.TOO_MUCH]
    for artefact, text in zip(upload.artefacts.order_by("position"), TEXTS, strict=True):
        with open_artefact(artefact.sha256) as stored:
            assert stored.read().decode() == text


@pytest.mark.django_db
@pytest.mark.usefixtures("room_for_two")
def test_trials_that_share_an_output_take_room_each(tenant):
    trials = [make_trial(index, artefacts=["0.txt"]) for index in range(4)]
    upload = read(tenant, TEXTS[:1], {**make_envelope(1), "trials": trials})
    assert upload.reason.startswith("2 of 4 results could not be read.")


@pytest.mark.django_db
@pytest.mark.usefixtures("room_for_two")
def test_files_without_a_plan_have_the_same_room(tenant):
    upload = read(tenant, TEXTS, None)
    assert upload.state == State.PARSED
    assert upload.reason.splitlines()[0] == "2 of 4 results could not be read."
    assert Trial.objects.count() == 2


def trial_of_hours():
    slices = tuple(
        TimeSlice(start_s=float(at), length_s=1.0, completed=1 + at % 7, failed=0)
        for at in range(SECONDS)
    )
    return ParsedTrial(tool="jmeter", loop=None, timeline=slices)


def test_a_long_time_series_is_held_packed():
    answered = orjson.dumps(as_entry(trial_of_hours()))
    tracemalloc.start()
    try:
        read_trial = trial_of(orjson.loads(answered))
        held_bytes = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert held_bytes < 2 << 20
    row = TrialTimeline(packed=read_trial.timeline)
    assert [part.completed for part in row.slices] == [1 + at % 7 for at in range(SECONDS)]

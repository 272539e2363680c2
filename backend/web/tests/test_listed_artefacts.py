"""Answers about many trials list the first files of each."""

import pytest
from django.test import Client

from backend.ingest.listing import listed_artefacts
from backend.ingest.listing.listed_artefacts import artefacts_of_trial, artefacts_of_trials
from backend.ingest.models import Artefact
from backend.runs.models import Trial

pytestmark = pytest.mark.django_db
MOST = 2


@pytest.fixture
def trials(scene, monkeypatch):
    """Three trials, the first of five files."""
    monkeypatch.setattr(listed_artefacts, "FILES_OF_TRIAL", MOST)
    trials = list(Trial.objects.filter(run=scene.run).order_by("ordinal")[:3])
    upload = trials[0].artefacts.first().upload
    for trial in trials:
        trial.artefacts.clear()
    for position in range(5):
        named = {"name": f"{position}.txt", "sha256": "0" * 64, "size_bytes": 1}
        artefact = Artefact.objects.create(upload=upload, position=100 + position, **named)
        artefact.trials.add(trials[0])
        if not position:
            artefact.trials.add(trials[1])
    return [str(trial.pk) for trial in trials]


def names(files):
    return [artefact["name"] for artefact in files]


def test_the_first_files_of_each_trial_are_listed_with_the_count_of_all(trials):
    first, second, third = map(artefacts_of_trials(trials).__getitem__, trials)
    assert (names(first.listed), first.count) == (["0.txt", "1.txt"], 5)
    assert (names(second.listed), second.count) == (["0.txt"], 1)
    assert (third.listed, third.count) == ([], 0)
    assert len(artefacts_of_trial(trials[0])) == 5


def test_all_trials_together_have_a_bound(trials, monkeypatch):
    monkeypatch.setattr(listed_artefacts, "FILES_TOGETHER", 3)
    assert [len(artefacts_of_trials(trials)[each].listed) for each in trials] == [1, 1, 0]


def test_the_page_and_the_answer_say_how_many_there_are(trials, scene):
    client = Client(headers=scene.own.headers)
    answer = client.get(f"/api/v1/runs/{scene.run.pk}").json()
    first = answer["trials"][0]
    assert (len(first["artefacts"]), first["artefact_count"]) == (MOST, 5)
    alone = client.get(f"/api/v1/trials/{trials[0]}").json()
    assert (len(alone["artefacts"]), alone["artefact_count"]) == (5, 5)
    client.force_login(scene.own.user)
    page = " ".join(client.get(f"/r/{scene.run.pk}").content.decode().split())
    assert "These are the first 2 of 5 files;" in page

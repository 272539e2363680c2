"""Our own runs of the studies: kept with every output, and told as their comparisons answer."""

import json

import pytest

from backend.accounts.models import Workspace
from backend.analysis.compare.comparison import compare
from backend.analysis.query.compare_query import CompareQuery
from backend.formats import RawArtefact, parse
from backend.library import today
from backend.library.envelopes import TODAY, today_parcel
from backend.library.loading import SLUG
from backend.library.study import find_study, read_studies
from backend.library.today import answer_today
from backend.runs.models import Run

STUDIES = read_studies()
each_study = pytest.mark.parametrize("study", STUDIES, ids=lambda study: study.name)


@each_study
def test_each_study_was_measured_again_with_every_output(study):
    parcel = today_parcel(study)
    assert not parcel.envelope["run"]["interrupted"]
    trials = parcel.envelope["trials"]
    named = [name for trial in trials for name in trial["artefacts"]]
    assert sorted(named) == sorted(parcel.files)
    assert all(trial["artefacts"] or trial["error"] for trial in trials)
    assert any(parse([RawArtefact.of(name, parcel.files[name])]) for name in named[:1])
    # The questions about a workload are told apart by them.
    assert all(trial["workload"]["payload_bytes"] is not None for trial in trials)


@each_study
def test_a_run_names_no_folder_of_the_machine_that_measured(study):
    text = json.dumps(today_parcel(study).envelope)
    assert not [word for word in ("/root", "/tmp/", "/home/") if word in text]


def test_an_upload_of_today_has_an_id_of_its_content():
    study = find_study("snakelets-2005")
    first, second = today_parcel(study), today_parcel(study)
    assert first.id == second.id
    assert first.envelope["run"]["labels"] == {"study": study.name, "part": TODAY}


def run_of_today(study):
    return Run.objects.get(labels__study=study.name, labels__part=TODAY)


def asked_again(answer):
    """What the comparison answers at the address of an answer of the library."""
    path, _, query = answer.url.partition("?")
    assert path == f"/w/{SLUG}/compare"
    workspace = Workspace.objects.get(slug=SLUG)
    return compare(CompareQuery.parse(query), workspace_ids=[workspace.pk])


@pytest.mark.django_db
@each_study
def test_each_workload_has_the_answer_of_the_comparison_that_it_leads_to(library, study):
    run = run_of_today(study)
    answers = answer_today(study, run, viewer="test")
    names = {trial["workload"]["name"] for trial in today_parcel(study).envelope["trials"]}
    assert {each.workload.partition(", ")[0] for each in answers} == names
    for each in answers:
        figures = asked_again(each)
        assert each.answer == figures.answer
        (workload,) = {series.workload for series in figures.series}
        assert each.workload.partition(", ")[0] == workload
        assert {row.id for row in figures.runs} == {str(run.pk)}


@pytest.mark.django_db
def test_answers_of_two_paths_are_told_apart_those_of_the_most_servers_first(library):
    study = find_study("landshark-2010")
    answers = answer_today(study, run_of_today(study), viewer="test")
    assert [each.workload for each in answers] == ["hello, 37 bytes", "hello, 39 bytes"]
    servers = [{series.server for series in asked_again(each).series} for each in answers]
    assert servers[1] == {"PHP"}
    assert len(servers[0]) == 9
    assert "cannot be ranked" not in answers[0].answer.sentence


@pytest.mark.django_db
def test_answers_that_a_comparison_takes_for_one_size_are_one_question(library):
    """Answers of 16 and 21 bytes, from one path."""
    study = find_study("app-servers-rest-2016")
    answers = answer_today(study, run_of_today(study), viewer="test")
    assert [each.workload for each in answers] == ["API", "template", "static file"]
    figures = asked_again(answers[0])
    assert len(figures.series) == 12
    assert not {"payload", "path"} & set(figures.outcome.differing)
    assert "cannot be ranked" not in answers[0].answer.sentence


@pytest.mark.django_db
def test_the_answers_of_one_server_are_about_its_versions_alone(library):
    study = find_study("landshark-2010")
    (each,) = answer_today(study, run_of_today(study), servers=("Tornado",), viewer="test")
    figures = asked_again(each)
    assert each.answer == figures.answer
    assert {series.version for series in figures.series} == {"0.2", "6.6.1"}
    assert answer_today(study, run_of_today(study), servers=("Landshark",), viewer="test") == []


@pytest.mark.django_db
def test_what_was_answered_is_kept_until_the_data_change(library, monkeypatch):
    study = find_study("snakelets-2005")
    answers = answer_today(study, run_of_today(study), viewer="test")
    asked = []
    monkeypatch.setattr(today, "compare_as_json", lambda query, **_: asked.append(query) or b"{}")
    assert answer_today(study, run_of_today(study), viewer="other") == answers
    assert asked == []
    run = run_of_today(study)
    run.workspace.data_version += 1
    monkeypatch.setattr(today, "figures_of_json", lambda _: None)
    with pytest.raises(AttributeError):
        answer_today(study, run, viewer="test")
    assert len(asked) == 1

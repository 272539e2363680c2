import pytest
from django.core.management import CommandError, call_command
from msgspec.structs import replace

from backend.accounts.models import User, Workspace
from backend.accounts.workspace import workspaces
from backend.accounts.workspace.workspaces import WorkspaceRefused
from backend.ingest.models import Upload
from backend.ingest.queue.worker import process
from backend.ingest.receiving.hints import hint
from backend.ingest.receiving.receive import Sender, receive
from backend.library import loading
from backend.library.envelopes import parcel_of, today_parcel
from backend.library.loading import load_library, result_set_id, today_name
from backend.library.study import read_studies
from backend.runs.models import Run, Trial
from backend.sharing.gallery import list_exhibits
from backend.sharing.models import ResultSet, Visibility
from backend.testing.uploads import make_envelope, make_file, make_tenant, make_upload

pytestmark = pytest.mark.django_db


def test_each_study_becomes_its_runs_and_one_public_frozen_result_set(library):
    studies = read_studies()
    workspace = Workspace.objects.get(slug=loading.SLUG)
    assert workspace.is_public
    assert Run.objects.filter(workspace=workspace).count() == sum(
        len(study.runs) + 1 for study in studies
    )
    for study in studies:
        again = ResultSet.objects.get(link=result_set_id(today_name(study.name)))
        assert again.is_frozen
        assert study.won in again.notes
        assert library.paths[today_name(study.name)] == again.path
        result_set = ResultSet.objects.get(link=result_set_id(study.name))
        assert result_set.title == study.title
        assert result_set.is_frozen
        assert result_set.visibility == Visibility.PUBLIC
        assert library.paths[study.name] == result_set.path
        assert study.won in result_set.notes
    # A load tool that met a hung server left an output without figures, which its upload says.
    today = [today_parcel(study).id for study in studies]
    assert not Upload.objects.exclude(reason="").exclude(pk__in=today).exists()


def test_loading_again_changes_nothing(library):
    before = list(ResultSet.objects.values_list("pk", "sha256", "link").order_by("pk"))
    trials = set(Trial.objects.values_list("pk", flat=True))
    again = load_library()
    assert (again.uploads, again.removed, again.result_sets) == (0, 0, 0)
    assert again.paths == library.paths
    assert list(ResultSet.objects.values_list("pk", "sha256", "link").order_by("pk")) == before
    assert set(Trial.objects.values_list("pk", flat=True)) == trials


def test_a_study_that_changed_replaces_its_run_and_keeps_its_link():
    (study,) = (study for study in read_studies() if study.name == "scaling-twisted-2013")
    load_library([study])
    first = ResultSet.objects.get(link=result_set_id(study.name))
    (run,) = study.runs
    changed = replace(study, runs=(replace(run, same_host=None),))
    loaded = load_library([changed])
    assert (loaded.uploads, loaded.removed, loaded.result_sets) == (1, 1, 2)
    second = ResultSet.objects.get(link=result_set_id(study.name))
    first.refresh_from_db()
    assert first.superseded_by == second
    assert Run.objects.get(labels__part="As published, 2013").same_host is None


def test_the_run_of_a_member_stays():
    (study,) = (study for study in read_studies() if study.name == "scaling-twisted-2013")
    load_library([study])
    user = User.objects.create_user(username="member", password=None)
    sender = Sender(Workspace.objects.get(slug=loading.SLUG).pk, token_id=None, user_id=user.pk)
    upload = receive(sender, [make_file()]).upload
    process(upload.pk)
    assert load_library([study]).removed == 0
    assert Run.objects.filter(pk=upload.pk).exists()


def test_a_file_that_cannot_be_read_is_told_with_its_reason(monkeypatch, tmp_path):
    (study,) = (study for study in read_studies() if study.name == "app-servers-rest-2016")
    (tmp_path / study.name).mkdir()
    for table in ("one-cpu.csv", "two-cpus.csv"):
        (tmp_path / study.name / table).write_text("no table")
    monkeypatch.setattr("backend.library.study.FOLDER", tmp_path)
    with pytest.raises(loading.NotLoaded, match="don't recognise"):
        load_library([study])


def test_a_persons_workspace_is_never_the_librarys():
    bob = User.objects.create_user(username="bob", password=None)
    own = workspaces.create(bob, name="Bob's", slug="")
    for slug in ("library", "demo"):
        with pytest.raises(WorkspaceRefused, match="is taken"):
            workspaces.create(bob, name="Library", slug=slug)
        with pytest.raises(WorkspaceRefused, match="is taken"):
            workspaces.rename(own, name="Library", slug=slug)
    # One of before the address was kept.
    Workspace.objects.filter(slug="library").update(slug="elsewhere")
    Workspace.objects.filter(pk=own.pk).update(slug="library", is_public=True)
    with pytest.raises(CommandError, match="was made by a person"):
        call_command("load_library")
    assert not Run.objects.filter(workspace=own).exists()
    # Its owner gives it another address, and does not keep this one.
    own.refresh_from_db()
    workspaces.rename(own, name="Bob's", slug="bobs-2")
    made = workspaces.own_workspace("library", {"name": "Library"})
    assert workspaces.current_slug("library") == made.slug == "library"


def test_ids_that_a_stranger_used_before_stop_no_study(monkeypatch):
    (given,) = (study for study in read_studies() if study.name == "scaling-twisted-2013")
    # Other content than that of the library of other tests, so other ids.
    study = replace(given, runs=(replace(given.runs[0], same_host=None),))
    monkeypatch.setattr(loading, "today_parcel", lambda _: None)
    parcels = [parcel_of(study, run) for run in study.runs]
    bob = make_tenant("bob")
    for parcel in parcels:
        make_upload(bob, envelope={**make_envelope(), "id": str(parcel.id)})
    loaded = load_library([study])
    assert (loaded.uploads, loaded.result_sets) == (1, 1)
    again = load_library([study])
    assert (again.uploads, again.removed, again.result_sets) == (0, 0, 0)
    assert Upload.objects.filter(workspace=bob.workspace).count() == len(parcels)


def test_every_set_tells_something_on_the_front_page(library):
    told = {exhibit.result_set.title: exhibit for exhibit in list_exhibits(50)}
    assert len(told) == 2 * len(read_studies())
    for exhibit in told.values():
        assert exhibit.is_comparable or "These series cannot be ranked:" in exhibit.finding


def test_no_worker_is_told_of_what_the_loading_reads(django_capture_on_commit_callbacks):
    (study,) = (study for study in read_studies() if study.name == "scaling-twisted-2013")
    # Whatever is loaded already, this run is new.
    runs = tuple(replace(run, same_host=None) for run in study.runs)
    with django_capture_on_commit_callbacks() as callbacks:
        assert load_library([replace(study, runs=runs)]).uploads >= 1
    assert hint not in callbacks

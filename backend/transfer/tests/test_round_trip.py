"""What is exported and imported is the same workspace, but for ids, addresses and secrets."""

import hashlib
import json
import re
import uuid

import pytest
from django.apps import apps
from django.core.management import CommandError, call_command
from django.db import connection
from django.db.models import ForeignKey, Max, OneToOneField
from django.test import Client

from backend.accounts.models import Act, AuditEvent, Membership, Token, User, Workspace
from backend.accounts.tokens.token_making import TokenRequest, make_token
from backend.accounts.workspace.scopes import Scope
from backend.ingest.models import Artefact, Upload
from backend.ingest.quota.stored_sums import recount, stored_bytes
from backend.ingest.reprocessing.verification import verify
from backend.runs.models import Cell, Run, Trial
from backend.sharing.models import ResultSet
from backend.sharing.moved_ids import moved_text
from backend.storage import storage
from backend.testing.rows import let_a_minute_pass
from backend.testing.uploads import make_tenant
from backend.transfer import importing
from backend.transfer.importing import import_archive
from backend.transfer.tables import CONTENTS, LEFT_OUT, TABLES
from backend.transfer.tests.rich import (
    contents_of,
    export_to,
    make_rich_scene,
    manifest_of,
    rows_of,
)

pytestmark = pytest.mark.django_db
LISTS = [
    *("runs", "servers", "hosts", "workloads", "merges", "uploads", "trash"),
    *("result-sets", "views", "alert-rules", "alerts", "trials.csv"),
]
# An answer names a series by eight digits that depend on the workspace.
SERIES_ID = re.compile(r"(?<![-0-9a-f])[0-9a-f]{8}(?![-0-9a-f])")


@pytest.fixture
def scene():
    scene = make_rich_scene()
    let_a_minute_pass()
    return scene


@pytest.fixture
def archive(scene, tmp_path):
    return export_to(scene.own.workspace, tmp_path)


@pytest.fixture
def imported(scene, archive):
    user = scene.own.user
    return import_archive(archive, slug="copied", owner=user, people={user.username: user})


def reader_of(scene, workspace):
    asked = TokenRequest("Reader", [Scope.RUNS_READ])
    _, clear = make_token(scene.own.user, workspace, asked)
    return Client(headers={"authorization": f"Bearer {clear}"})


def answers(client, workspace):
    """By address: what the API says of everything in the workspace."""
    texts = {}
    for name in LISTS:
        texts[name] = client.get(f"/api/v1/{name}?limit=100").content.decode()
    runs = Run.objects.filter(workspace=workspace).order_by("recorded_at", "pk")
    for number, run in enumerate(runs):
        texts[f"run {number}"] = client.get(f"/api/v1/runs/{run.pk}").content.decode()
        sharing = client.get(f"/api/v1/runs/{run.pk}/sharing")
        texts[f"sharing {number}"] = sharing.content.decode()
        texts[f"compare {number}"] = client.get(f"/api/v1/compare?run={run.pk}").content.decode()
    sets = ResultSet.objects.filter(workspace=workspace).order_by("created_at")
    for number, kept in enumerate(sets):
        texts[f"set {number}"] = client.get(f"/api/v1/result-sets/{kept.link}").content.decode()
    return texts


def plain(text, ids):
    """What the answer holds, with the ids of the copy and no names of workspaces.

    Lists are in the order of their text, so that rows of one moment may change places.
    """
    text = SERIES_ID.sub("…", moved_text(text, lambda id_: ids.get(id_, id_)))
    return sorted_lists(json_or_lines(text.replace("own-lab", "…").replace("copied", "…")))


def json_or_lines(text):
    return json.loads(text) if text.startswith("{") else text.splitlines()


def sorted_lists(value):
    if isinstance(value, dict):
        return {name: sorted_lists(member) for name, member in value.items()}
    if isinstance(value, list):
        return sorted((sorted_lists(entry) for entry in value), key=json.dumps)
    return value


def writes_of_runs():
    """How many rows of runs this transaction has changed."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT n_tup_upd FROM pg_stat_xact_user_tables WHERE relname = 'runs_run'")
        return cursor.fetchone()[0]


def test_the_totals_of_runs_are_counted_once_at_the_end(scene, archive, monkeypatch):
    """Not after each statement: of a large archive, each has trials of hundreds of runs."""
    monkeypatch.setattr(importing, "ROWS_AT_ONCE", 1)
    before = writes_of_runs()
    workspace = import_archive(archive, slug="copied").workspace
    runs = Run.with_trash.filter(workspace=workspace)
    assert writes_of_runs() - before == len(runs) > 1
    for run in runs:
        counted = Trial.objects.filter(run=run, warmup=False).count()
        best = Cell.objects.filter(run=run).aggregate(best=Max("throughput_rps"))["best"]
        assert (run.counted_trials, run.best_rps) == (counted, best)
    # What comes later is counted at once.
    run = next(run for run in runs if run.counted_trials)
    Trial.objects.filter(run=run).delete()
    run.refresh_from_db()
    assert run.counted_trials == 0


def namespace_of(workspace):
    """The namespace of the ids of an imported workspace."""
    (namespace,) = ResultSet.objects.filter(workspace=workspace).first().moved_through
    return uuid.UUID(namespace)


def test_every_answer_is_the_same_but_for_ids_and_addresses(scene, imported):
    own, copied = scene.own.workspace, imported.workspace
    namespace = namespace_of(copied)
    before = answers(reader_of(scene, own), own)
    after = answers(reader_of(scene, copied), copied)
    assert set(before) == set(after)
    for address, text in before.items():
        # A withdrawn result set is 410 in both.
        assert '"status": 40' not in text, address
        moved = {id_: uuid.uuid5(namespace, str(id_)) for id_ in ids_in(text)}
        assert plain(text, moved) == plain(after[address], {}), address


def ids_in(text):
    ids = []
    moved_text(text, lambda id_: ids.append(id_) or id_)
    return ids


def test_frozen_documents_keep_their_bytes_and_their_pages_lead_to_the_runs_here(scene, imported):
    before = ResultSet.objects.filter(workspace=scene.own.workspace, kind="frozen")
    after = ResultSet.objects.filter(workspace=imported.workspace, kind="frozen")
    assert sorted(before.values_list("sha256")) == sorted(after.values_list("sha256"))
    second = after.get(title="Second")
    assert hashlib.sha256(bytes(second.snapshot)).hexdigest() == second.sha256
    here = Run.objects.filter(workspace=imported.workspace)
    document = second.frozen_snapshot()
    assert {uuid.UUID(run["id"]) for run in document["runs"]} <= set(
        here.values_list("pk", flat=True)
    )
    client = Client()
    assert client.get(f"/s/{second.link}.json").content == bytes(second.snapshot)
    page = client.get(f"/s/{second.link}").content.decode()
    assert str(scene.run.pk) not in page
    owner = Client()
    owner.force_login(scene.own.user)
    changes = owner.get(f"/api/v1/result-sets/{second.link}/changes")
    assert changes.json()["missing_runs"] == []


def test_rows_files_and_hashes_are_equal_after_a_second_round(scene, archive, imported, tmp_path):
    again = export_to(imported.workspace, tmp_path)
    first, second = manifest_of(archive), manifest_of(again)
    counts = [
        {name: table["rows"] for name, table in each["tables"].items()} for each in (first, second)
    ]
    assert counts[0] == counts[1] == imported.rows
    assert min(counts[0].values()) > 0, counts[0]
    assert first["files"] == second["files"] == imported.files > 0
    raw = [
        {name for name in contents_of(each) if name.startswith("raw/")} for each in (archive, again)
    ]
    assert raw[0] == raw[1]
    for kept in ("name", "relevant_share", "min_trials", "must_match", "raw_kept_days"):
        assert first["workspace"][kept] == second["workspace"][kept]
    assert imported.workspace.relevant_share == 0.07


def test_the_imported_workspace_is_sound(imported):
    assert recount() == 0
    assert stored_bytes(imported.workspace.pk) > 0
    assert [check.problems for check in verify(is_hashing=True) if check.problems] == []
    upload = Upload.objects.filter(workspace=imported.workspace).exclude(envelope={}).first()
    assert str(upload.run_id) == upload.envelope["run"]["id"]


def test_the_trash_the_merges_and_the_history_work_as_before(scene, imported):
    client = Client()
    client.force_login(scene.own.user)
    trashed = Run.with_trash.filter(workspace=imported.workspace).exclude(trashed_at=None).get()
    assert client.post(f"/api/v1/runs/{trashed.pk}/restore").status_code == 204
    (merge,) = client.get("/api/v1/merges?workspace=copied").json()["merges"]
    assert merge["source"] == "old-name"


def test_secrets_and_people_are_not_in_an_archive(scene, archive):
    User.objects.filter(pk=scene.own.user.pk).update(email="own@example.org")
    token = Token.objects.get(workspace=scene.own.workspace)
    content = b"".join(contents_of(archive).values())
    for secret in (b"own@example.org", bytes(token.lookup, "ascii"), b"secret-hook.example"):
        assert secret not in content
    assert scene.own.user.username.encode() in content
    assert manifest_of(archive)["left_out"][: len(LEFT_OUT)] == list(LEFT_OUT.values())


def test_without_a_named_account_nobody_did_it(scene, archive):
    copied = import_archive(archive, slug="copied").workspace
    assert not ResultSet.objects.filter(workspace=copied).exclude(author=None).exists()
    assert not Membership.objects.filter(workspace=copied).exists()
    assert AuditEvent.objects.filter(act=Act.WORKSPACE_IMPORTED, workspace_id=copied.pk).exists()


def test_raw_output_that_was_removed_stays_removed(scene, tmp_path):
    upload = scene.upload
    upload.raw_removed_at, upload.raw_kept_days = upload.received_at, 30
    upload.save()
    imported = import_archive(export_to(scene.own.workspace, tmp_path), slug="copied")
    copy = Upload.objects.get(workspace=imported.workspace, raw_kept_days=30)
    assert copy.removal_note == upload.removal_note
    assert copy.artefacts.get().sha256 == scene.artefact.sha256


def test_numbers_that_postgresql_gives_back_with_all_digits_are_exported(scene, tmp_path):
    resources = {"a": 1e29, "b": -(10**25), "c": 1.5}
    Trial.objects.filter(run__workspace=scene.own.workspace).update(resources=resources)
    imported = import_archive(export_to(scene.own.workspace, tmp_path), slug="copied")
    trials = Trial.objects.filter(run__workspace=imported.workspace)
    assert {json.dumps(trial.resources) for trial in trials} == {
        json.dumps(resources | {"a": 10**29})
    }


def test_the_command_prints_what_it_imported(scene, archive, capsys):
    call_command("import_workspace", str(archive), "--slug", "copied", "--owner", "own-lab")
    out = capsys.readouterr().out
    assert "Imported into the new workspace copied:" in out
    assert re.search(rf"{len(rows_of(archive, 'trial'))}  trial\n", out)
    assert Membership.objects.get(workspace__slug="copied").user == scene.own.user


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (["--slug", "own-lab"], "The address “own-lab” is taken"),
        (["--slug", "b a d"], "Nothing was imported"),
        (["--slug", "copied", "--owner", "nobody"], "There is no user 'nobody'"),
        (["--slug", "copied", "--person", "x"], "expected NAME=USER"),
    ],
)
def test_the_command_refuses_with_the_reason(archive, arguments, reason):
    with pytest.raises(CommandError, match=reason):
        call_command("import_workspace", str(archive), *arguments)
    assert Workspace.objects.filter(slug="copied").count() == 0


def test_a_file_that_is_not_there_is_named():
    with pytest.raises(CommandError, match=r"There is no file /nowhere\.zip"):
        call_command("import_workspace", "/nowhere.zip", "--slug", "copied")


def leads_to_workspace(model, seen=()):
    """Whether rows of the model belong to a workspace, directly or through their parents."""
    keys = [
        each for each in model._meta.concrete_fields if isinstance(each, ForeignKey | OneToOneField)
    ]
    parents = [each.related_model for each in keys]
    return Workspace in parents or any(
        parent not in (model, *seen, User) and leads_to_workspace(parent, (*seen, model))
        for parent in parents
    )


def test_every_model_of_a_workspace_is_exported_or_left_out_for_a_reason():
    exported = {table.model for table in TABLES}
    for model in apps.get_models(include_auto_created=True):
        if model is Workspace or not leads_to_workspace(model):
            continue
        assert (model in exported) != (model._meta.label_lower in LEFT_OUT), model


def test_an_archive_has_every_stored_byte_of_the_workspace(scene, archive):
    small = {row["sha256"] for row in rows_of(archive, CONTENTS.name)}
    large = {name.removeprefix("raw/") for name in contents_of(archive) if name.startswith("raw/")}
    kept = Artefact.objects.filter(upload__workspace=scene.own.workspace)
    assert small | large == set(kept.values_list("sha256", flat=True))
    assert all(storage().has(sha256) for sha256 in large)


def test_a_foreign_workspace_is_not_in_the_archive(scene, archive):
    foreign = make_tenant("third-lab")
    assert b"foreign-lab" not in b"".join(contents_of(archive).values())
    assert foreign.workspace.slug == "third-lab"

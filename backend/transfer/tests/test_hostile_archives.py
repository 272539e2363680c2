"""An archive that was cut, changed or made up is refused whole, and nothing of it stays."""

import base64
import hashlib
import json
import random
import subprocess
import sys
import uuid
import zipfile
import zlib
from datetime import timedelta

import orjson
import pytest
from django.apps import apps
from django.conf import settings
from django.utils import timezone

from backend.ingest.models import SmallContent
from backend.runs.models import Run
from backend.runs.tables.happening import newest_first
from backend.storage import storage
from backend.testing.scenes import make_measured_run
from backend.testing.uploads import make_tenant
from backend.transfer.importing import import_archive
from backend.transfer.reader import ImportRefused
from backend.transfer.tests.rich import contents_of, export_to, make_rich_scene

pytestmark = pytest.mark.django_db
MANIFEST = "manifest.json"


@pytest.fixture(scope="module")
def made():
    """The archive of the rich workspace, made once; its bytes do not depend on a test."""
    return {}


@pytest.fixture
def archive(made, tmp_path):
    path = tmp_path / "whole.zip"
    if "bytes" not in made:
        # The rows go with this test's transaction; the archive stays.
        made["bytes"] = export_to(make_rich_scene().own.workspace, tmp_path).read_bytes()
    path.write_bytes(made["bytes"])
    return path


@pytest.fixture
def before(archive):
    return state()


def state():
    """How many rows each model has, and what is stored."""
    counts = {
        model._meta.label: model._base_manager.count()
        for model in apps.get_models()
        if model._meta.managed
    }
    return counts, sorted(entry.name for entry in storage().list())


def refused(path, before, *reasons):
    """The import is refused for one of these reasons, and nothing has changed."""
    with pytest.raises(ImportRefused) as refusal:
        import_archive(path, slug="copied")
    assert state() == before
    assert any(reason in str(refusal.value) for reason in reasons), refusal.value


def written(path, contents):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as target:
        for name, content in contents.items():
            target.writestr(name, content)
    return path


def forged(archive, contents, **tables):
    """The archive with these files, and a manifest that counts and hashes them."""
    manifest = orjson.loads(contents[MANIFEST])
    for name in manifest["tables"]:
        content = contents[f"rows/{name}.jsonl"]
        counted = {"rows": content.count(b"\n"), "sha256": hashlib.sha256(content).hexdigest()}
        manifest["tables"][name] = counted
    manifest["files"] = sum(name.startswith("raw/") for name in contents)
    manifest |= tables
    return written(archive.with_name("forged.zip"), {**contents, MANIFEST: orjson.dumps(manifest)})


def with_row(archive, table, number=0, **members):
    """The archive with other members in one row, as its maker could have written it."""
    contents, name = contents_of(archive), f"rows/{table}.jsonl"
    lines = contents[name].splitlines()
    row = {**orjson.loads(lines[number]), **members}
    lines[number] = json.dumps(row).encode()
    return forged(archive, {**contents, name: b"\n".join(lines) + b"\n"})


def test_the_archive_itself_is_imported(archive, before):
    assert import_archive(archive, slug="copied").files > 0
    assert state() != before


@pytest.mark.parametrize("share", [0.0, 0.001, 0.3, 0.9, 0.999])
def test_a_cut_archive_is_refused(archive, before, share):
    whole = archive.read_bytes()
    archive.write_bytes(whole[: int(share * len(whole))])
    refused(archive, before, "It is damaged, or was cut")


def test_a_changed_byte_is_refused_or_changes_nothing(archive, before):
    whole, picked = archive.read_bytes(), random.Random(7)
    contents = contents_of(archive)
    for _ in range(12):
        at = picked.randrange(len(whole))
        changed = bytearray(whole)
        changed[at] ^= 0xFF
        archive.write_bytes(changed)
        try:
            import_archive(archive, slug="copied")
        except ImportRefused:
            assert state() == before
        else:
            assert contents_of(archive) == contents
            return


def test_a_changed_row_or_raw_file_does_not_have_its_hash(archive, before):
    contents = contents_of(archive)
    name = "rows/trial.jsonl"
    changed = contents[name].replace(b'"throughput_rps":6000.0', b'"throughput_rps":9000.0')
    changed = changed if changed != contents[name] else contents[name].replace(b"0", b"1", 1)
    refused(
        written(archive.with_name("a.zip"), {**contents, name: changed}), before, "It was changed"
    )
    raw = next(name for name in contents if name.startswith("raw/"))
    other = written(archive.with_name("b.zip"), {**contents, raw: contents[raw] + b" "})
    refused(other, before, "it was changed")


def test_files_that_are_missing_or_too_many_are_refused(archive, before):
    contents = contents_of(archive)
    raw = next(name for name in contents if name.startswith("raw/"))
    for left_out in (raw, "rows/trial.jsonl", MANIFEST):
        rest = {name: content for name, content in contents.items() if name != left_out}
        refused(written(archive.with_name("less.zip"), rest), before, "It was changed", "was cut")
    for path in ("../evil", "/etc/passwd", "raw/../../x", "rows/x.jsonl/y", "raw/" + "A" * 64):
        more = written(archive.with_name("more.zip"), {**contents, path: b"x"})
        refused(more, before, "which no archive of Loadsheet has")


def test_a_file_that_is_there_twice_is_refused(archive, before):
    with zipfile.ZipFile(archive, "a") as target, pytest.warns(UserWarning, match="Duplicate"):
        target.writestr("rows/run.jsonl", b"")
    refused(archive, before, "A file is in it twice")


@pytest.mark.parametrize(
    ("manifest", "reason"),
    [
        ({"format": "other"}, "expected 'loadsheet-workspace'"),
        ({"version": 99}, "this Loadsheet reads version 1"),
        ({"tables": {}}, "are missing, or are no tables"),
        ({"workspace": None}, "manifest.json is not from Loadsheet"),
        ({"workspace": {"slug": "x", "name": ""}}, "manifest.json is not from Loadsheet"),
    ],
)
def test_another_manifest_is_refused(archive, before, manifest, reason):
    refused(forged(archive, contents_of(archive), **manifest), before, reason, "It was changed")


def test_a_run_that_was_recorded_in_the_future_is_refused(archive, before):
    """It would pass for the newest run for years. Its own date alone cannot do that."""
    time = (timezone.now() + timedelta(days=1)).isoformat()
    refused(with_row(archive, "run", recorded_at=time), before, "recorded_at is")
    import_archive(with_row(archive, "run", started_at=time), slug="copied")
    newest = newest_first(Run.objects.filter(workspace__slug="copied")).first()
    assert newest.happened_at <= timezone.now()


def test_a_run_gets_the_known_members_of_its_session_alone(archive, before):
    session = {"name": "pair", "parts": 2}
    more = {**session, "unknown": "x" * 10_000}
    imported = import_archive(with_row(archive, "run", session=more), slug="copied")
    own = Run.with_trash.filter(workspace=imported.workspace)
    assert list(own.exclude(session={}).values_list("session", flat=True)) == [session]


def test_a_session_that_no_upload_could_have_is_refused(archive, before):
    refused(with_row(archive, "run", session={"name": "x" * 101}), before, "at most 100 characters")


def test_what_is_no_zip_is_refused(archive, before):
    for content in (b"", b"no zip", b"PK\x03\x04" + bytes(100)):
        archive.write_bytes(content)
        refused(archive, before, "It is damaged, or was cut")


@pytest.mark.parametrize(
    ("table", "members", "reason"),
    [
        ("trial", {"exit_code": "0"}, "expected a whole number"),
        ("trial", {"exit_code": 2**40}, "line 1"),
        ("trial", {"ordinal": -1}, "line 1"),
        ("trial", {"elapsed_s": True}, "expected a number"),
        ("trial", {"errors": []}, "expected an object"),
        ("trial", {"checks": [5]}, "expected checks with an id each"),
        ("trial", {"percentiles_us": {"99": "x"}}, "Expected `float | null`"),
        ("trial", {"percentiles_us": {"abc": 1}}, "Expected `str` matching regex"),
        ("cell", {"percentiles_us": {"99": True}}, "Expected `float | null`"),
        ("trial", {"errors": {"read": "x"}}, "Expected `int | null`"),
        ("run", {"labels": {"branch": None}}, "Expected `str`"),
        ("run", {"events": [5]}, "Expected `object`"),
        ("trial", {"warmup": None}, "expected a value"),
        ("trial", {"error": "NUL \0"}, "NUL"),
        ("trial", {"error": "\ud800"}, "rows/trial.jsonl, line 1"),
        ("trial", {"unknown": 1}, "are missing, or are no columns"),
        ("trial", {"histogram": "?"}, "not base64"),
        ("trial", {"histogram": base64.b64encode(b"no histogram").decode()}, "line 1"),
        ("trial", {"output_sha256": base64.b64encode(bytes(33)).decode()}, "32"),
        ("server", {"name": "x" * 201}, "200"),
        ("run", {"started_at": "10000-01-01T00:00:00+00:00"}, "started_at"),
        ("run", {"started_at": "0001-01-01T00:00:00+14:00"}, "started_at"),
        ("run", {"started_at": "2026-01-01T00:00:00"}, "expected a time with its zone"),
        ("run", {"author": {"id": 1}}, "expected the name of a person"),
        ("run", {"id": "x"}, "have no ids"),
        ("upload", {"state": "received; DROP"}, "state"),
        ("upload", {"envelope": {"schema": 1, "run": {"id": "x"}}}, "line 1"),
        ("upload", {"envelope": {"schema": 2}}, "line 1"),
        ("result_set", {"visibility": "everyone"}, "expected one of private"),
        ("result_set", {"moved_through": ["x"]}, "line 1"),
        ("result_set", {"moved_through": [str(uuid.uuid4())] * 99}, "99 times"),
        ("merge", {"rows": [{"id": 5}]}, "line 1"),
    ],
)
def test_a_value_that_its_column_cannot_have_is_refused(archive, before, table, members, reason):
    refused(with_row(archive, table, **members), before, reason)


def test_a_made_up_namespace_is_refused_in_every_result_set(archive, before):
    rows = contents_of(archive)["rows/result_set.jsonl"].splitlines()
    assert {orjson.loads(row)["snapshot"] is None for row in rows} == {True, False}
    for number in range(len(rows)):
        forged_row = with_row(archive, "result_set", number, moved_through=["x"])
        refused(forged_row, before, f"line {number + 1}")


@pytest.mark.parametrize(
    "line",
    [
        b"[" * 100_000,
        b'{"a":' * 10_000,
        b"{}",
        b"5",
        b'{"id": NaN}',
        b'{"id": ' + b"9" * 5_000 + b"}",
        b"\xff\xfe",
    ],
)
def test_json_that_is_none_or_beyond_every_limit_is_refused(archive, before, line):
    contents = contents_of(archive)
    contents["rows/run.jsonl"] += line + b"\n"
    refused(forged(archive, contents), before, "rows/run.jsonl", "rows of run")


def test_a_line_without_an_end_is_refused(archive, before):
    contents = contents_of(archive)
    contents["rows/run.jsonl"] += b"{}"
    refused(forged(archive, contents), before, "a line without an end")


def test_packed_values_are_unpacked_within_limits(archive, before):
    bomb = zlib.compress(b"[" + b" " * (65 << 20) + b"]")
    for packed in (bomb, zlib.compress(b"{}"), zlib.compress(b"[1"), b"no zlib", bomb[:50]):
        path = with_row(archive, "observation", packed=base64.b64encode(packed).decode())
        refused(path, before, "rows/observation.jsonl, line 1")


def test_rows_that_refer_to_no_row_of_the_archive_are_refused(archive, before):
    stranger = make_measured_run(make_tenant("third-lab").workspace)
    before = state()
    for run_id in (stranger.run_id, uuid.uuid4()):
        refused(with_row(archive, "cell", run=str(run_id)), before, "do not fit together")


def test_bytes_of_other_workspaces_cannot_be_asked_for_by_their_hash(archive, before):
    secret = b"raw output of another workspace"
    sha256 = hashlib.sha256(secret).hexdigest()
    storage().put([secret])
    SmallContent.objects.create(sha256=sha256, content=secret, size_bytes=len(secret))
    path = with_row(archive, "artefact", sha256=sha256, size_bytes=len(secret))
    refused(path, state(), "the archive has none of it")


def test_a_small_file_has_its_hash(archive, before):
    other = base64.b64encode(b"other bytes").decode()
    refused(with_row(archive, "small_content", content=other), before, "has other bytes")


def test_a_changed_frozen_document_is_refused(archive, before):
    document = base64.b64encode(b'{"figures": {}, "runs": []}').decode()
    contents = contents_of(archive)
    lines = [orjson.loads(line) for line in contents["rows/result_set.jsonl"].splitlines()]
    number = next(at for at, row in enumerate(lines) if row["snapshot"])
    path = with_row(archive, "result_set", number, snapshot=document)
    refused(path, before, "the frozen document does not have its SHA-256")
    sha256 = hashlib.sha256(base64.b64decode(document)).hexdigest()
    path = with_row(archive, "result_set", number, snapshot=document, sha256=sha256)
    refused(path, before, "rows/result_set.jsonl")


def test_more_bytes_than_a_workspace_may_store_are_refused(archive, before, monkeypatch):
    monkeypatch.setattr(settings, "WORKSPACE_MAX_BYTES", 1000)
    refused(archive, before, "bytes unpacked; at most 1,000 fit")


def test_the_child_imports_no_django():
    program = "import sys, backend.transfer.read_child; sys.exit('django' in sys.modules)"
    subprocess.run([sys.executable, "-c", program], check=True, cwd=settings.BASE_DIR)

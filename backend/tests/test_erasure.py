"""A workspace deleted for good leaves nothing: a marker in every text and every file of it is found
nowhere afterwards.

The fields are read from the models. A new model with a text needs a row in `make_every_row`; a new
text that cannot hold the marker needs a line in UNMARKED.
"""

import base64
import gzip
import hashlib
import io
import uuid

import pytest
import yaml
import zstandard
from django.apps import apps
from django.conf import settings
from django.contrib.sessions.models import Session as WebSession
from django.core.cache import caches
from django.db import connection, models
from django.test import Client

from backend.accounts.models import Act, AuditEvent, Workspace
from backend.broker import broker_client, cache_client
from backend.config.environment.logs import JsonFormatter
from backend.ingest.models import Artefact, State, Upload
from backend.ingest.queue.worker import drain
from backend.ingest.removing.purging import purge_deleted_workspaces
from backend.runs.models import Server
from backend.storage import storage
from backend.testing.every_text import (
    OUTLIVES,
    TEXTS,
    UNMARKED,
    make_every_row,
    name_of,
    overwrite_texts,
    text_fields,
)
from backend.testing.scenes import make_measured_run, make_scene
from backend.testing.uploads import make_file

pytestmark = pytest.mark.django_db(transaction=True)

# Short, for short fields; no word of ours, and too long for chance in Base64 or hexadecimal.
MARKER = "qzvxwj"
LARGE = f"{MARKER} a line that no load tool prints\n".encode() * 8000


@pytest.fixture
def lab(settings, tmp_path, caplog):
    """A workspace with everything that one can have, and its owner's browser."""
    settings.DATA_DIR = tmp_path
    settings.EMAIL_BACKEND = "backend.accounts.mail.held_mail.EmailBackend"
    storage.cache_clear()
    caplog.set_level("INFO")
    scene = make_scene()
    owner = Client()
    owner.force_login(scene.own.user)
    yield scene, owner
    storage.cache_clear()


def test_nothing_of_a_deleted_workspace_is_left(lab, tmp_path, caplog):
    scene, owner = lab
    _plant_names(scene, owner)
    _plant_files(scene, owner)
    make_every_row(scene, MARKER)
    overwrite_texts(scene.own.workspace, _marked)
    assert _places_with_marker(tmp_path) >= {"tables", "files", "valkey"}
    assert _unmarked_fields() == []
    stays = make_measured_run(scene.foreign.workspace)

    workspace = Workspace.objects.get(pk=scene.own.workspace.pk)
    page = owner.post(f"/w/{workspace.slug}/delete", {"confirm": workspace.slug}, follow=True)
    assert page.status_code == 200
    purge_deleted_workspaces()

    assert _places_with_marker(tmp_path) == set(), _tables_with_marker()
    named = set(Artefact.objects.values_list("sha256", flat=True))
    assert {path.name for path in _files(tmp_path)} <= named
    assert [line for line in map(JsonFormatter().format, caplog.records) if MARKER in line] == []
    # What is kept: that it was deleted, when, and by whom.
    assert _tables_with(str(workspace.pk)) == {"accounts_auditevent"}
    (event,) = AuditEvent.objects.filter(workspace_id=workspace.pk)
    assert (event.act, event.subject, event.detail) == (Act.WORKSPACE_DELETED, "", {})
    # Other workspaces keep theirs.
    assert Upload.objects.filter(pk=stays.pk, run__trials__isnull=False).exists()


@pytest.mark.parametrize(
    ("setting", "value"), [("log_error_verbosity", "terse"), ("log_min_error_statement", "panic")]
)
def test_postgresql_logs_no_row_that_it_refuses(setting, value):
    with connection.cursor() as cursor:
        cursor.execute("SELECT current_setting(%s)", [setting])
        assert cursor.fetchone() == (value,)
    compose = yaml.safe_load((settings.BASE_DIR / "docker-compose.yml").read_text())
    assert f"{setting}={value}" in compose["services"]["postgres"]["command"]


def test_what_is_excused_exists():
    labels = {model._meta.label for model in apps.get_models()}
    fields = {name_of(field) for model in apps.get_models() for field in model._meta.local_fields}
    assert labels >= OUTLIVES
    assert {name for name in UNMARKED if not name.endswith("*")} <= fields


def _plant_names(scene, owner):
    """Names that are changed by pages: their former ones are kept too."""
    for slug in (f"{MARKER}-old", f"{MARKER}-lab"):
        current = Workspace.objects.get(pk=scene.own.workspace.pk).slug
        form = {"name": MARKER, "slug": slug}
        assert owner.post(f"/w/{current}/rename", form, follow=True).status_code == 200
    server = Server.objects.filter(workspace=scene.own.workspace, name="secret-server").get()
    address = f"/w/{MARKER}-lab/servers/{server.pk}/rename"
    assert owner.post(address, {"name": f"{MARKER} server"}, follow=True).status_code == 200
    # Its answer and its image are kept in the cache.
    assert MARKER in owner.get(f"/api/v1/compare?workspace={MARKER}-lab").content.decode()


def _plant_files(scene, owner):
    """Artefacts in a row, in a file and packed, and a part of one that never comes."""
    files = {
        "small.txt": f"{MARKER} nonsense".encode(),
        "large.txt": LARGE,
        "packed.gz": gzip.compress(LARGE),
    }
    client = Client(headers=scene.own.headers)
    for name, content in files.items():
        form = {"file": make_file(content, f"{MARKER}-{name}")}
        assert client.post("/api/v1/uploads", form).status_code == 202
    drain()
    failed = Upload.objects.filter(workspace=scene.own.workspace, state=State.FAILED)
    assert failed.count() == len(files)
    part, upload = LARGE[: 256 << 10], uuid.uuid4()
    digest = base64.b64encode(hashlib.sha256(part).digest()).decode()
    answer = client.put(
        f"/api/v1/uploads/{upload}/parts/{'0' * 64}/0",
        part,
        content_type="application/octet-stream",
        headers={"Content-Digest": f"sha-256=:{digest}:"},
    )
    assert answer.status_code in {200, 201}, answer.content


def _marked(field, value, number):
    if isinstance(field, models.BinaryField):
        return f"{MARKER}{number}".encode()
    if isinstance(field, TEXTS):
        return f"{MARKER}{number}"
    if isinstance(value, list):
        return [*value, MARKER]
    return {**value, MARKER: MARKER} if isinstance(value, dict) else MARKER


def _unmarked_fields():
    """Fields without the marker in any row: no row was planted, or it does not fit."""
    return [
        name_of(field)
        for field in text_fields()
        if not _has_marker(field.model._meta.db_table, f't."{field.column}"::text')
    ]


def _places_with_marker(folder):
    places = {
        "tables": bool(_tables_with_marker()),
        "sessions": any(
            MARKER in str(session.get_decoded()) for session in WebSession.objects.all()
        ),
        "files": any(MARKER.encode() in content for content in map(_unpacked, _files(folder))),
        "valkey": any(MARKER.encode() in value for value in _values_in_valkey()),
    }
    return {name for name, has_marker in places.items() if has_marker}


def _tables_with_marker():
    return {name for name in _tables() if _has_marker(name, "t::text")}


def _tables_with(text):
    return {name for name in _tables() if _has_text(name, "t::text", text)}


def _tables():
    with connection.cursor() as cursor:
        cursor.execute("SELECT tablename FROM pg_tables WHERE schemaname = 'public'")
        return [name for (name,) in cursor.fetchall()]


def _has_marker(table, expression):
    """Also in bytes, which PostgreSQL writes in hexadecimal."""
    return any(_has_text(table, expression, text) for text in (MARKER, MARKER.encode().hex()))


def _has_text(table, expression, text):
    with connection.cursor() as cursor:
        query = f'SELECT 1 FROM "{table}" t WHERE {expression} LIKE %s LIMIT 1'
        cursor.execute(query, [f"%{text}%"])
        return cursor.fetchone() is not None


def _files(folder):
    return {path for path in folder.rglob("*") if path.is_file()}


def _unpacked(path):
    content = path.read_bytes()
    if content.startswith(b"\x1f\x8b"):
        return gzip.GzipFile(fileobj=io.BytesIO(content)).read()
    return content


def _values_in_valkey():
    """Every key with its value; kept answers unpacked."""
    answers = caches["answers"]
    prefix = answers.make_key("").encode()
    for client in {broker_client(), cache_client()}:
        for key in client.scan_iter(count=1000):
            if key.startswith(prefix):
                yield _inflated(answers.get(key.removeprefix(prefix).decode()))
            else:
                yield key + repr(_value(client, key)).encode()


def _value(client, key):
    readers = {
        b"string": client.get,
        b"hash": client.hgetall,
        b"set": client.smembers,
        b"list": lambda name: client.lrange(name, 0, -1),
        b"zset": lambda name: client.zrange(name, 0, -1),
    }
    kind = client.type(key)
    # A key may end between two questions.
    return None if kind == b"none" else readers[kind](key)


def _inflated(value):
    """An answer is packed, an image is not."""
    content = value if isinstance(value, bytes) else repr(value).encode()
    try:
        return zstandard.decompress(content)
    except zstandard.ZstdError:
        return content

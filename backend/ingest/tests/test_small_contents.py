"""Small artefacts in rows are kept, found, verified and collected as files are."""

import hashlib
import uuid
from datetime import timedelta

import pytest
from django.utils import timezone

from backend.accounts import tokens
from backend.accounts.models import Membership, Role, Token
from backend.ingest import collector, worker
from backend.ingest.insert_small import SmallUpload, insert_small
from backend.ingest.models import Artefact, SmallContent, State, Upload
from backend.ingest.storage import open_artefact, storage
from backend.ingest.stored_sums import stored_bytes
from backend.ingest.verification import verify
from backend.testing.uploads import WRK, make_tenant, make_upload

pytestmark = pytest.mark.django_db


@pytest.fixture
def tenant():
    return make_tenant()


# Other tests store the same report as a file.
CONTENT = f"{WRK}\n# kept in a row\n".encode()
SHA256 = hashlib.sha256(CONTENT).hexdigest()


def small_upload(token, content=CONTENT, upload_id=None):
    sha256 = hashlib.sha256(content).hexdigest()
    return SmallUpload(
        upload_id or uuid.uuid4(), token.pk, timezone.now(), "0" * 64, "ab.txt", sha256, content
    )


@pytest.fixture
def upload(tenant):
    given = small_upload(Token.objects.get())
    assert insert_small(given)
    return Upload.objects.get(pk=given.id)


def test_a_small_upload_has_every_column_that_a_large_one_has(tenant, upload):
    long_way = make_upload(tenant)
    # A program sent the one, a person the other.
    own = {"id", "received_at", "content_sha256", "token_id", "is_interactive"}
    rows = Upload.objects.filter(pk__in=[upload.pk, long_way.pk]).values()
    first, second = ({key: row[key] for key in row.keys() - own} for row in rows)
    assert first == second
    files = Artefact.objects.values("position", "name", "sha256", "size_bytes")
    short = files.get(upload=upload)
    assert short.keys() == files.get(upload=long_way).keys()
    assert short == {"position": 0, "name": "ab.txt", "sha256": SHA256, "size_bytes": len(CONTENT)}


def test_it_is_read_without_a_file(upload):
    assert not storage().rest.has(SHA256)
    worker.process(upload.pk)
    upload.refresh_from_db()
    assert upload.state == State.PARSED
    with open_artefact(SHA256) as stored:
        assert stored.read() == CONTENT


def test_its_bytes_count_for_the_workspace(tenant, upload):
    assert stored_bytes(tenant.workspace.pk) == len(CONTENT)


def test_equal_bytes_are_stored_once(tenant, upload):
    assert insert_small(small_upload(Token.objects.get()))
    assert (SmallContent.objects.count(), Artefact.objects.count()) == (1, 2)


def test_the_same_id_writes_nothing(tenant, upload):
    again = small_upload(Token.objects.get(), b"other bytes", upload.pk)
    assert not insert_small(again)
    assert (Upload.objects.count(), SmallContent.objects.count()) == (1, 1)


def revoke(tenant, token):
    tokens.revoke(token)


def expire(tenant, token):
    Token.objects.update(expires_at=timezone.now() - timedelta(seconds=1))


def leave(tenant, token):
    Membership.objects.all().delete()


def become_viewer(tenant, token):
    Membership.objects.update(role=Role.VIEWER)


def be_shut_out(tenant, token):
    tenant.user.is_active = False
    tenant.user.save()


@pytest.mark.parametrize("happen", [revoke, expire, leave, become_viewer, be_shut_out])
def test_a_token_that_may_not_upload_any_more_writes_nothing(tenant, happen):
    token = Token.objects.get()
    happen(tenant, token)
    assert not insert_small(small_upload(token))
    assert not Upload.objects.exists()
    assert not SmallContent.objects.exists()


def test_a_full_workspace_writes_nothing(tenant, settings):
    settings.WORKSPACE_MAX_BYTES = 10
    assert not insert_small(small_upload(Token.objects.get()))
    assert not SmallContent.objects.exists()


def test_every_check_of_what_is_stored_sees_the_rows(upload):
    def problems():
        lines = [line for check in verify(is_hashing=True) for line in check.problems]
        return [line for line in lines if SHA256 in line]

    assert problems() == []
    SmallContent.objects.all().delete()
    assert problems() == [f"{SHA256} is missing"]


def test_rows_that_nothing_names_are_collected(upload, settings):
    settings.COLLECT_AFTER_S = 0
    collector.collect()
    assert SmallContent.objects.count() == 1
    Upload.objects.all().delete()
    collector.collect(is_forced=True)
    assert not SmallContent.objects.exists()

"""Small artefacts in rows are kept, found, verified and collected as files are."""

import hashlib

import pytest

from backend.errors import Conflict
from backend.ingest.models import Artefact, SmallContent, State, Upload
from backend.ingest.queue import worker
from backend.ingest.quota.quota import WorkspaceFull
from backend.ingest.quota.stored_sums import stored_bytes
from backend.ingest.receiving.receive import receive
from backend.ingest.removing import collector
from backend.ingest.reprocessing.verification import verify
from backend.storage import open_artefact, storage
from backend.testing.uploads import WRK, make_file, make_tenant, make_upload

pytestmark = pytest.mark.django_db


@pytest.fixture
def tenant():
    return make_tenant()


# Other tests store the same report as a file.
CONTENT = f"{WRK}\n# kept in a row\n".encode()
SHA256 = hashlib.sha256(CONTENT).hexdigest()


@pytest.fixture
def upload(tenant):
    return make_upload(tenant, CONTENT)


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
    make_upload(tenant, CONTENT)
    assert (SmallContent.objects.count(), Artefact.objects.count()) == (1, 2)


def test_the_same_id_writes_nothing(tenant, upload):
    envelope = {"schema": 1, "id": str(upload.pk)}
    with pytest.raises(Conflict):
        receive(tenant.sender, [make_file(b"other bytes")], raw_envelope=envelope)
    assert (Upload.objects.count(), SmallContent.objects.count()) == (1, 1)


def test_a_full_workspace_writes_nothing(tenant, settings):
    settings.WORKSPACE_MAX_BYTES = 10
    with pytest.raises(WorkspaceFull):
        make_upload(tenant, CONTENT)
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

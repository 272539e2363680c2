"""An upload whose sender was looked up before the workspace or the token went."""

import hashlib
import uuid

import pytest
from django.db import connection

from backend.accounts.models import Token, Workspace
from backend.accounts.tokens.tokens import TokenRefused
from backend.errors import NotFound
from backend.ingest.artefacts.parts import Place, receive_part
from backend.ingest.models import Part, Upload
from backend.ingest.receiving.receive import Sender, receive
from backend.sharing.workspace_deletion import delete_workspace
from backend.storage import storage
from backend.testing.uploads import make_file, make_tenant

pytestmark = pytest.mark.usefixtures("own_storage")
DATA = b"x" * (256 << 10)


def place_in(workspace_id):
    return Place(workspace_id, uuid.uuid4(), hashlib.sha256(DATA).hexdigest(), 0)


def put(place):
    return receive_part(
        place, [DATA], sha256=hashlib.sha256(DATA).hexdigest(), size_bytes=len(DATA)
    )


@pytest.mark.django_db
def test_nothing_is_taken_behind_a_deletion():
    tenant = make_tenant()
    delete_workspace(tenant.workspace)
    with pytest.raises(NotFound):
        receive(tenant.sender, [make_file()])
    with pytest.raises(NotFound):
        put(place_in(tenant.workspace.pk))
    assert not Upload.objects.filter(workspace=tenant.workspace.pk).exists()
    assert not Part.objects.filter(workspace=tenant.workspace.pk).exists()
    assert not list(storage().list())


@pytest.mark.django_db(transaction=True)
def test_a_workspace_that_is_gone_is_found_out_at_commit():
    tenant = make_tenant()
    Workspace.objects.filter(pk=tenant.workspace.pk).delete()
    with pytest.raises(NotFound):
        receive(tenant.sender, [make_file()])
    with pytest.raises(NotFound):
        put(place_in(tenant.workspace.pk))
    assert not Upload.objects.filter(workspace=tenant.workspace.pk).exists()


@pytest.mark.django_db(transaction=True)
def test_so_is_a_token():
    tenant = make_tenant()
    token = Token.objects.get(workspace=tenant.workspace)
    sender = Sender(tenant.workspace.pk, token_id=token.pk, user_id=tenant.user.pk)
    token.delete()
    with pytest.raises(TokenRefused):
        receive(sender, [make_file()])
    assert not Upload.objects.filter(workspace=tenant.workspace.pk).exists()


@pytest.mark.django_db(transaction=True)
def test_a_deletion_waits_for_no_upload():
    """An upload that is being written refers to the row of the workspace, and to its token."""
    tenant = make_tenant()
    other = connection.copy()
    try:
        with other.cursor() as cursor:
            cursor.execute("BEGIN")
            for table in ("accounts_workspace", "accounts_token"):
                cursor.execute(f"SELECT 1 FROM {table} FOR KEY SHARE")
            with connection.cursor() as own:
                own.execute("SET lock_timeout = '1s'")
            delete_workspace(tenant.workspace)
            cursor.execute("ROLLBACK")
    finally:
        other.close()
        connection.close()
    assert Workspace.objects.get(pk=tenant.workspace.pk).deleted_at is not None

"""Making workspaces, tokens and uploads for tests."""

from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from django.core.files.uploadedfile import SimpleUploadedFile

from backend.accounts.models import Membership, Role, TokenKind, User, Workspace
from backend.accounts.tokens.tokens import AGENT_LIFETIME, issue
from backend.ingest.models import Upload
from backend.ingest.queue.claims import claim_due
from backend.ingest.queue.queue import Claim
from backend.ingest.receiving.receive import Sender, receive
from backend.testing.packed import gzip_of, gzip_of_zeros
from backend.testing.reports import AB, WRK, make_envelope, make_trial

__all__ = [
    "AB",
    "WRK",
    "Tenant",
    "claim_next",
    "gzip_of",
    "gzip_of_zeros",
    "make_envelope",
    "make_file",
    "make_tenant",
    "make_trial",
    "make_upload",
]


@dataclass(frozen=True, slots=True)
class Tenant:
    """A workspace with its owner and a working agent token."""

    workspace: Workspace
    user: User
    token: str

    @property
    def headers(self) -> dict[str, str]:
        return {"authorization": f"Bearer {self.token}"}

    @property
    def sender(self) -> Sender:
        return Sender(self.workspace.pk, token_id=None, user_id=self.user.pk)


def make_tenant(slug: str = "lab", *, lifetime: timedelta = AGENT_LIFETIME) -> Tenant:
    """A workspace named `slug`, owned by a user of the same name."""
    workspace = Workspace.objects.create(slug=slug, name=slug.title())
    user = User.objects.create_user(username=slug, password=None)
    Membership.objects.create(user=user, workspace=workspace, role=Role.OWNER)
    token = issue(TokenKind.AGENT, workspace, user=user, name="test", lifetime=lifetime)
    return Tenant(workspace, user, token)


def make_file(text: str | bytes = WRK, name: str = "wrk.txt") -> SimpleUploadedFile:
    """A file as a request carries it."""
    return SimpleUploadedFile(name, text.encode() if isinstance(text, str) else text)


def make_upload(
    tenant: Tenant, *texts: str | bytes, envelope: dict[str, Any] | None = None, tool: str = ""
) -> Upload:
    """A received upload of one file per text (a wrk report when none is given)."""
    files = [make_file(text, f"{index}.txt") for index, text in enumerate(texts or (WRK,))]
    return receive(tenant.sender, files, raw_envelope=envelope, tool=tool).upload


def claim_next() -> Claim | None:
    """The claim of the upload whose turn it is, alone; None if nothing is due."""
    groups = claim_due(most=1)
    return groups[0][0] if groups else None

"""Making, finding and revoking the tokens of private feeds.

A token opens the feeds of one workspace, for reading, while its maker is a member; one that an API
token made, also only while that is valid, and from its networks.
"""

import hashlib
from datetime import timedelta
from typing import Any
from uuid import UUID

from django.db import transaction
from django.db.models import Q, QuerySet
from django.utils import timezone

from backend.accounts.audit import record
from backend.accounts.credentials import token_format
from backend.accounts.credentials.stored_token import find_stored, signature_of
from backend.accounts.limits.addresses import Address
from backend.accounts.models import Act, Membership, Token, User, Workspace
from backend.accounts.tokens.tokens import is_accepted
from backend.errors import Conflict, NotFound
from backend.feeds.models import FeedToken

MAX_NAME = 120
MAX_TOKENS = 20
KIND = "feed"
# Of tokens that were made before feed tokens had the form of others.
OLD_PREFIX = "ls_feed_"
# How exactly the last use is known: feed readers ask often, and each use would be a write.
USE_KNOWN_TO = timedelta(hours=1)


class TooManyTokens(Conflict):
    """A member has as many feed tokens as one may have."""


def make_token(
    workspace: Workspace, user: User, name: str, *, made_by: Token | None = None
) -> tuple[FeedToken, str]:
    """A new token and its clear text, which is never shown again.

    Raises NotFound for a person who is no member, and TooManyTokens.
    """
    clear = token_format.new_token(KIND)
    cleaned = " ".join(name.replace("\0", " ").split())[:MAX_NAME] or "feed reader"
    with transaction.atomic():
        members = Membership.objects.filter(workspace=workspace, user=user)
        if members.select_for_update().first() is None:
            raise NotFound("Only a member can make a feed token of this workspace.")
        if tokens_of(workspace, user).count() >= MAX_TOKENS:
            raise TooManyTokens(f"You have {MAX_TOKENS} feed tokens here. Revoke one first.")
        token = FeedToken.objects.create(
            workspace=workspace, user=user, made_by=made_by, name=cleaned, **signature_of(clear)
        )
        _record(Act.FEED_TOKEN_CREATED, token)
    return token, clear


def tokens_of(workspace: Workspace, user: User) -> QuerySet[FeedToken]:
    """The tokens that a member made in a workspace, the newest first, without those that ended
    with the API token that made them."""
    return _open_tokens().filter(workspace=workspace, user=user)


def revoke_token(workspace: Workspace, user: User, token_id: UUID) -> bool:
    """Delete a token of a member; whether there was one."""
    token = tokens_of(workspace, user).filter(pk=token_id).first()
    return token is not None and _revoke(token)


def revoke_all_of(workspace_id: UUID, user_id: UUID, **_: Any) -> None:
    """Delete the tokens of somebody who left the workspace."""
    for token in FeedToken.objects.filter(workspace=workspace_id, user=user_id):
        _revoke(token)


def end_leaked(clear: str) -> None:
    """End the token with this clear text, which was published; nothing if there is none."""
    if (token := _stored(clear)) is not None:
        _revoke(token, is_published=True)


def opened_by(clear: str, address: Address | None) -> UUID | None:
    """The workspace that a token opens to a reader at `address`; None for every other text."""
    token = _stored(clear)
    if token is None or not token.user.is_active or not _is_member(token):
        return None
    if token.made_by is not None and not is_accepted(token.made_by, address):
        return None
    now = timezone.now()
    is_stale = Q(used_at=None) | Q(used_at__lt=now - USE_KNOWN_TO)
    FeedToken.objects.filter(is_stale, pk=token.pk).update(used_at=now)
    return token.workspace_id


def _stored(clear: str) -> FeedToken | None:
    rows = FeedToken.objects.select_related("workspace", "user", "made_by")
    if token_format.is_well_formed(clear):
        return find_stored(rows, clear)
    is_old = clear.startswith(OLD_PREFIX) and len(clear) <= 200
    return rows.filter(lookup="", digest=_old_digest(clear)).first() if is_old else None


def signed_tokens() -> QuerySet[FeedToken]:
    """The tokens whose digest is keyed with a pepper, of all workspaces."""
    return _open_tokens().exclude(lookup="").filter(workspace__deleted_at=None)


def _open_tokens() -> QuerySet[FeedToken]:
    lasting = Q(made_by__expires_at=None) | Q(made_by__expires_at__gt=timezone.now())
    return FeedToken.objects.filter(Q(made_by=None) | Q(lasting, made_by__revoked_at=None))


@transaction.atomic
def _revoke(token: FeedToken, **detail: Any) -> bool:
    is_deleted = bool(FeedToken.objects.filter(pk=token.pk).delete()[0])
    if is_deleted:
        _record(Act.FEED_TOKEN_REVOKED, token, **detail)
    return is_deleted


def _record(act: Act, token: FeedToken, **detail: Any) -> None:
    record(act, token.workspace, subject=token.name, subject_id=token.pk, **detail)


def _is_member(token: FeedToken) -> bool:
    return Membership.objects.filter(workspace=token.workspace_id, user=token.user_id).exists()


def _old_digest(clear: str) -> bytes:
    return hashlib.sha256(clear.encode(errors="replace")).digest()
